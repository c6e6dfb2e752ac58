package screen

import (
	"runtime/debug"
	"sync"
	"time"
)

// A screen is open for days beside other programs, and most of what it allocates is soon garbage: the requests of a
// turn, frames. So the heap may grow to one and a half of what is in use instead of twice, and what is free is given
// back when it rests.
const (
	heapGrowth = 50 // per cent
	restAfter  = 5 * time.Second
)

// thrift gives memory back once after each time that a session has worked. It is safe for concurrent use.
type thrift struct {
	grow func(percent int) (was int) // sets how far the heap may grow
	give func()                      // memory back to the system
	wait time.Duration

	mu      sync.Mutex
	pending *time.Timer
	worked  bool // since memory was given back
	saves   bool // the heap grows less than it did
	was     int  // as far as it did
}

// thrifty has this process take less memory, at the cost of some time, from the first time that the session works, so
// that nothing is drawn later for it. The function that it returns ends that.
func thrifty() (*thrift, func()) {
	t := &thrift{grow: debug.SetGCPercent, give: debug.FreeOSMemory, wait: restAfter}
	return t, t.end
}

// end has the process be as it was.
func (t *thrift) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending != nil {
		t.pending.Stop()
		t.pending = nil
	}
	if t.saves {
		t.grow(t.was)
		t.saves = false
	}
}

// stands takes in whether the session works now. Nil takes nothing in.
func (t *thrift) stands(working bool) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case working:
		if t.worked = true; !t.saves {
			t.saves, t.was = true, t.grow(heapGrowth)
		}
		if t.pending != nil {
			t.pending.Stop()
			t.pending = nil
		}
	case t.worked && t.pending == nil:
		t.pending = time.AfterFunc(t.wait, t.rest)
	}
}

func (t *thrift) rest() {
	t.mu.Lock()
	due := t.pending != nil
	if due {
		t.pending, t.worked = nil, false
	}
	t.mu.Unlock()
	if due {
		t.give()
	}
}
