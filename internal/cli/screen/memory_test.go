package screen

import (
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"
)

// Goal: memory is given back once after each time that a session has worked, a while after it began to rest, and never
// while it works.
func TestMemoryIsGivenBackAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		given := 0
		r := &thrift{grow: func(int) int { return 100 }, give: func() { given++ }, wait: restAfter}
		wait := func() { <-time.After(2 * restAfter); synctest.Wait() }
		steps := []struct {
			working bool
			want    int
		}{{false, 0}, {true, 0}, {false, 1}, {false, 1}, {true, 1}, {true, 1}, {false, 2}}
		for i, s := range steps {
			r.stands(s.working)
			r.stands(s.working)
			if wait(); given != s.want {
				t.Errorf("step %d: %d times, want %d", i, given, s.want)
			}
		}
		r.stands(true)
		r.stands(false)
		r.stands(true) // it rested for a moment only
		if wait(); given != 2 {
			t.Errorf("%d times", given)
		}
	})
}

// A screen that is left leaves the process as it was.
func TestThriftEndsWithTheScreen(t *testing.T) {
	was := debug.SetGCPercent(170)
	defer debug.SetGCPercent(was)
	r, over := thrifty()
	percent := func() int {
		now := debug.SetGCPercent(170)
		debug.SetGCPercent(now)
		return now
	}
	r.stands(false)
	if got := percent(); got != 170 {
		t.Errorf("before it works: %d per cent", got)
	}
	for range 2 {
		r.stands(true)
		if got := percent(); got != heapGrowth {
			t.Errorf("it works: %d per cent", got)
		}
	}
	over()
	if got := debug.SetGCPercent(170); got != 170 {
		t.Errorf("%d per cent", got)
	}
}
