package transcript

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// frame is the most that a frame or a key may take on a slow and loaded machine: several times what people notice.
const frame = time.Second

// conversation has n items of every kind, some of them long.
func conversation(n, width, height int) *Model {
	m := newModel(width, height)
	for i := range n {
		id := fmt.Sprint("item ", i)
		switch i % 5 {
		case 0:
			m.Put(Item{ID: id, Kind: Person, Text: "please do number " + id})
		case 1:
			m.Put(Item{ID: id, Kind: Thinking, Text: strings.Repeat("hm, let me see\n", 20)})
		case 2:
			m.Put(Item{ID: id, Kind: Text, Text: "I shall **look** at `main.go`, then:\n\n- one\n- two\n\n```go\nfunc main() {}\n```\n"})
		case 3:
			m.Put(Item{ID: id, Kind: Tool, Call: Call{Act: id, Name: "Bash", About: "go test ./...", State: Done, Output: strings.Repeat("ok  \tpackage\t0.1s\n", 100), Outcome: "100 lines: ok"}})
		case 4:
			m.Put(Item{ID: id, Kind: Tool, Call: Call{Act: id, Name: "Edit", About: "main.go", State: Done, Diff: []Diff{{Name: "main.go", Old: "a\nb\n", New: "a\nc\n"}}}})
		}
	}
	return m
}

// quick fails if something takes longer than a frame may, in the best of three times.
func quick(t *testing.T, what string, do func()) {
	t.Helper()
	best := time.Hour
	for range 3 {
		start := time.Now()
		do()
		best = min(best, time.Since(start))
	}
	t.Logf("%s: %v", what, best)
	if best > frame {
		t.Errorf("%s takes %v", what, best)
	}
}

// Goal: what a frame or a key costs does not grow with the conversation: 10,000 items, all open or not. A peer's list asked
// every item for its height in each frame, which took a second with 900 messages.
func TestLongConversationIsQuick(t *testing.T) {
	m := conversation(10_000, 120, 40)
	for _, all := range []string{"closed", "open"} {
		quick(t, all+": a frame", func() { m.Visible() })
		quick(t, all+": a page up", func() { m.Scroll(-38); m.Visible() })
		m.Browse(true)
		quick(t, all+": select", func() { m.Move(-1); m.Visible() })
		quick(t, all+": to the first and the last", func() { m.Move(-10_000); m.Visible(); m.Move(10_000); m.Visible() })
		quick(t, all+": resize", func() { m.SetSize(100, 30); m.Visible(); m.SetSize(120, 40); m.Visible() })
		quick(t, all+": open all and close", func() { m.ToggleAll(); m.Visible(); m.ToggleAll(); m.Visible() })
		m.End()
		m.Browse(false)
		m.ToggleAll()
	}
	for range 300 {
		m.Scroll(-38)
		m.Visible()
	}
	check(t, m)
	if n := len(m.cache.held); n > maxDrawn+newUses {
		t.Errorf("%d items hold lines", n)
	}
	if n := m.cache.lines; n > 2*maxHeld {
		t.Errorf("%d lines are held", n)
	}
}

// Goal: a call that printed 100,000 lines, or one line of megabytes, opens at once, however often: it is drawn from both
// ends. Opening long output froze a peer's screen.
func TestOpenLongOutput(t *testing.T) {
	for name, output := range map[string]string{
		"lines": strings.Repeat("a line of output with\ttabs and 日本語\n", 100_000), "one line": strings.Repeat("xyz ", 1<<20),
		"no letters": strings.Repeat("\xe6", 4<<20), "a progress bar": strings.Repeat("12 %\r", 1<<20),
	} {
		m := newModel(80, 24)
		call := Call{Act: "a", Name: "Bash", About: "make", State: Done, Output: output}
		m.Put(Item{ID: "a", Kind: Tool, Call: call})
		m.Browse(true)
		quick(t, name+": open, open more, close", func() {
			m.Toggle()
			m.Visible()
			m.Toggle()
			m.Visible()
			m.Toggle()
			m.Visible()
		})
		call.State = Running
		m.Toggle()
		quick(t, name+": news", func() {
			m.Put(Item{ID: "a", Kind: Tool, Call: call})
			m.Visible()
		})
		check(t, m)
	}
}

// Goal: a reply of 50,000 lines scrolls as any other.
func TestLongReplyIsQuick(t *testing.T) {
	m := newModel(100, 40)
	m.Put(Item{ID: "t", Kind: Text, Text: strings.Repeat("a line of a *list* that is `long`\n\n", 25_000)})
	start := time.Now()
	m.Visible()
	t.Logf("the first frame: %v", time.Since(start))
	quick(t, "a page", func() { m.Scroll(-30); m.Visible() })
	quick(t, "to the beginning", func() { m.Begin(); m.Visible(); m.End() })
}

// Goal: words cost what they are, not what was said before: the second half of a megabyte takes about as long as the
// first, with a frame for each piece.
func TestStreamingIsLinear(t *testing.T) {
	const piece = "some *words* of a reply, and `more` of them.\n\nNext "
	for _, kind := range []Kind{Text, Thinking} {
		m := newModel(100, 40)
		m.Say("s", kind, "Begin ")
		size := 512 << 10
		if kind == Thinking {
			size = 64 << 10
			m.Browse(true)
			m.Toggle()
		}
		half := func() time.Duration {
			start := time.Now()
			for range size / len(piece) {
				m.Say("s", kind, piece)
				m.Visible()
			}
			return time.Since(start)
		}
		first := half()
		second := half()
		t.Logf("kind %d: %v and %v", kind, first, second)
		if second > 4*first+time.Second {
			t.Errorf("kind %d: the first half took %v, the second %v", kind, first, second)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 1000 {
			m.Say("s", kind, piece)
			m.Visible()
		}
		runtime.ReadMemStats(&after)
		if n := (after.TotalAlloc - before.TotalAlloc) / 1000; n > 256<<10 {
			t.Errorf("kind %d: a piece and its frame take %d bytes", kind, n)
		} else {
			t.Logf("kind %d: a piece and its frame take %d bytes", kind, n)
		}
		m.Put(Item{ID: "s", Kind: kind, Text: m.items[0].Text})
		check(t, m)
	}
}

func BenchmarkFrame(b *testing.B) {
	m := conversation(10_000, 120, 40)
	for b.Loop() {
		m.Visible()
	}
}

func BenchmarkScroll(b *testing.B) {
	m := conversation(10_000, 120, 40)
	for b.Loop() {
		if m.Scroll(-3) {
			m.End()
		}
		m.Visible()
	}
}

func BenchmarkSay(b *testing.B) {
	m := newModel(120, 40)
	m.Say("s", Text, strings.Repeat("some *words* of a reply, and `more` of them.\n\n", 10_000))
	for b.Loop() {
		m.Say("s", Text, "a word ")
		m.Visible()
	}
}
