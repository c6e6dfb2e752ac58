package transcript

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// steps adds items as a session's log would: for each step words of the model and a call with its output.
func steps(m *Model, from, to int, output string) {
	for i := from; i < to; i++ {
		at := int64(10 * i)
		m.Put(Item{ID: fmt.Sprint("said ", i), Kind: Text, Text: fmt.Sprintf("I do %d.\n\n- one\n- two", i), At: at})
		m.Put(Item{ID: fmt.Sprint("call ", i), Kind: Tool, At: at + 5, Call: Call{Name: "Bash", About: "make", State: Done, Output: strings.Clone(output)}})
		m.Forget()
	}
}

func small(bytes int) *Model {
	m := newModel(80, 10)
	m.cfg.Bytes = bytes
	return m
}

// Goal: a session of any length takes no more memory than one of some hours. Ten times as many steps are within a small
// ratio of the heap, outputs and words included.
func TestALongSessionTakesNoMoreMemory(t *testing.T) {
	m := small(1 << 20)
	heap := func() int64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	output := strings.Repeat("a line of output\n", 1000)
	begin := heap()
	steps(m, 1, 200, output)
	some := heap() - begin
	steps(m, 200, 2000, output)
	all := heap() - begin
	t.Logf("%d bytes of 200 steps, %d of 2,000; %d items", some, all, m.Len())
	if all > 2*some+1<<20 {
		t.Errorf("%d bytes of 200 steps, %d of 2,000", some, all)
	}
	runtime.KeepAlive(m)
}

// Goal: nothing that is on the screen moves when what is far above it is let go of; and nothing is while somebody reads
// there, or moves over items.
func TestForgettingIsNotSeen(t *testing.T) {
	m := small(1 << 30)
	steps(m, 1, 200, strings.Repeat("x", 1000))
	was := m.View()
	m.cfg.Bytes = 20_000
	m.Scroll(-300)
	up := m.View()
	if n := m.Forget(); n != 0 || m.View() != up {
		t.Errorf("forgot as far as %d while it was looked at", n)
	}
	m.End()
	m.Browse(true)
	if n := m.Forget(); n != 0 {
		t.Errorf("forgot as far as %d while items were browsed", n)
	}
	m.Browse(false)
	n := m.Forget()
	if n == 0 || m.Len() > 40 || m.View() != was {
		t.Errorf("as far as %d, %d are left:\n%s", n, m.Len(), m.View())
	}
	if _, ok := m.Item(fmt.Sprint("said ", n/10)); ok {
		t.Error("what was to be read again is there")
	}
	if m.Forget() != 0 {
		t.Error("it is within its bound")
	}
}

// What still changes stays, and so does what has changed since: read again as far as that event it would be as it was then.
func TestWhatChangesIsNotForgotten(t *testing.T) {
	m := small(20_000)
	m.Put(Item{ID: "serves", Kind: Tool, At: 3, Call: Call{Name: "Bash", State: Background}})
	m.Put(Item{ID: "served", Kind: Tool, At: 4, Call: Call{Name: "Bash", State: Background}})
	steps(m, 1, 20, strings.Repeat("x", 500))
	m.Put(Item{ID: "served", Kind: Tool, At: 1000, Call: Call{Name: "Bash", State: Done}})
	steps(m, 101, 150, strings.Repeat("x", 500))
	for id, want := range map[string]bool{"serves": true, "said 1": false} {
		if _, ok := m.Item(id); ok != want {
			t.Errorf("%s: %v", id, ok)
		}
	}
	m = small(20_000)
	m.Put(Item{ID: "served", Kind: Tool, At: 1 << 40, Call: Call{Name: "Bash", State: Done}})
	steps(m, 1, 100, strings.Repeat("x", 500))
	if _, ok := m.Item("served"); !ok {
		t.Error("it has changed since")
	}
}

// A page that has items which are there puts the others where they belong among them.
func TestOlderItemsFindTheirPlace(t *testing.T) {
	m := small(1 << 30)
	for _, id := range []string{"b", "d", "e"} {
		m.Put(Item{ID: id, Kind: Note, Text: id})
	}
	m.Prepend([]Item{{ID: "c", Kind: Note, Text: "c"}, {ID: "d", Kind: Note, Text: "other"}})
	m.Prepend([]Item{{ID: "a", Kind: Note, Text: "a"}, {ID: "b", Kind: Note, Text: "other"}})
	var got []string
	m.Print(80, func(l string) { got = append(got, strings.TrimLeft(ansi.Strip(l), " ·")) })
	if want := []string{"a", "b", "c", "d", "e"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
