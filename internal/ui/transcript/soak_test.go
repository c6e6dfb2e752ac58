package transcript

import (
	"fmt"
	"os"
	"runtime"
	"testing"
)

// Goal: hours of words keep the memory that is held beside the words themselves flat, and what a frame costs. Peers'
// screens ate the processor after some hours, until they were started again. With PERDURE_SOAK it is an hour of a fast
// model.
func TestHoursOfWords(t *testing.T) {
	replies := 600
	if os.Getenv("PERDURE_SOAK") != "" {
		replies = 20_000
	}
	m := newModel(120, 40)
	words := 0
	heap := func() int {
		var s runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&s)
		return int(s.HeapAlloc) - words
	}
	work := func(from, to int) {
		for i := from; i < to; i++ {
			id := fmt.Sprint("reply ", i)
			for range 50 {
				const piece = "some *words* of a reply, and `more` of them.\n\n"
				m.Say(id, Text, piece)
				words += len(piece)
				m.Visible()
			}
			m.Settle(id)
			m.Put(Item{ID: "call " + id, Kind: Tool, Call: Call{Name: "Bash", About: "make", State: Done}})
			if i%10 == 0 {
				m.Scroll(-200)
				m.Visible()
				m.End()
			}
		}
	}
	work(0, replies/2)
	before, held := heap(), m.cache.lines
	work(replies/2, replies)
	grown := heap() - before
	t.Logf("%d bytes of words; %d lines held, then %d; %d bytes grown beside them", words, held, m.cache.lines, grown)
	if each := grown / (replies / 2); each > 8<<10 && grown > 32<<20 {
		t.Errorf("%d bytes for each reply", each)
	}
	if m.cache.lines > 2*maxHeld {
		t.Errorf("%d lines are held", m.cache.lines)
	}
	for _, e := range m.items {
		if e.stream != nil || e.grown != nil {
			t.Fatal("a stream is held that has ended")
		}
	}
}
