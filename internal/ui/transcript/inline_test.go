package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func taken(m *Model) (out []string) {
	for _, l := range m.TakeSettled(m.width) {
		out = append(out, strings.TrimRight(ansi.Strip(l), " "))
	}
	return out
}

// Goal: what is finished is printed once and in order, with one blank line where the screen has one; what goes on waits,
// and so does all that is after it.
func TestTakeSettled(t *testing.T) {
	m := newModel(60, 10)
	m.Put(Item{ID: "p", Kind: Person, Text: "hello"})
	m.Say("t", Text, "I **lo")
	m.Say("t", Text, "ok**")
	if got := taken(m); !slices.Equal(got, []string{" > hello"}) {
		t.Fatalf("%q", got)
	}
	if got := taken(m); got != nil {
		t.Fatalf("what is still said was printed: %q", got)
	}
	m.Put(Item{ID: "t", Kind: Text, Text: "I **look**"}) // the same text: no more of it comes
	call := Item{ID: "c", Kind: Tool, Call: Call{Name: "Bash", About: "make", State: Running}}
	m.Put(call)
	m.Put(Item{ID: "n", Kind: Note, Text: "noted"})
	if got := taken(m); !slices.Equal(got, []string{"", " I look"}) {
		t.Fatalf("%q", got)
	}
	call.Call.State, call.Call.Outcome = Background, "as bash_1"
	m.Put(call)
	if got := taken(m); !slices.Equal(got, []string{"", " ◌ Bash make → as bash_1", " · noted"}) {
		t.Fatalf("%q", got)
	}
	call.Call.State = Done
	m.Put(call)
	m.Say("t", Text, "late")
	m.Prepend([]Item{call})
	if got := taken(m); got != nil || m.Len() != 0 {
		t.Fatalf("it was printed again: %q", got)
	}
	m.Say("k", Thinking, "hm")
	m.Put(Item{ID: "v", Kind: Tool, Call: Call{Name: "Read", State: Planned}})
	if got := taken(m); got != nil {
		t.Fatalf("%q", got)
	}
	m.Settle("k")
	if got := taken(m); !slices.Equal(got, []string{" ✻ thought, 2 characters"}) {
		t.Fatalf("%q", got)
	}
	m.Put(Item{ID: "p2", Kind: Person, Text: "again"}) // whatever became of the call, its turn is over
	if got := taken(m); !slices.Equal(got, []string{" ○ Read", "", " > again"}) {
		t.Fatalf("%q", got)
	}
}

// Goal: nothing is lost and nothing is printed twice, in whatever order things happen.
func TestInlineLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(60, 10)
		var want []string
		live := map[string]Item{}
		var got []string
		take := func() {
			for _, l := range taken(m) {
				if l = strings.TrimSpace(l); l != "" {
					got = append(got, l)
				}
			}
		}
		for n := range rapid.IntRange(1, 40).Draw(t, "n") {
			id := fmt.Sprintf("%02d", n)
			switch rapid.SampledFrom([]string{"say", "call", "end", "note", "take"}).Draw(t, "do") {
			case "say":
				m.Say(id, Text, "words ")
				m.Say(id, Text, id)
				want, live[id] = append(want, "words "+id), Item{ID: id, Kind: Text, Text: "words " + id}
			case "call":
				it := Item{ID: id, Kind: Tool, Call: Call{Name: "Bash", About: id, State: Running}}
				m.Put(it)
				it.Call.State = Done
				want, live[id] = append(want, "✓ Bash "+id), it
			case "end":
				for id, it := range live {
					m.Put(it)
					delete(live, id)
					break
				}
			case "note":
				m.Put(Item{ID: id, Kind: Note, Text: id})
				want = append(want, "· "+id)
			case "take":
				take()
				if len(m.Tail(4)) > 4 {
					t.Fatal("the live area is too high")
				}
			}
		}
		for _, it := range live {
			m.Put(it)
		}
		take()
		if !slices.Equal(got, want) {
			t.Fatalf("printed %q, want %q", got, want)
		}
	})
}
