package screen

import (
	"runtime/debug"
	"sync"
	"time"
)

// A screen is open for days beside other programs, and most of what it allocates is soon garbage: the requests of a turn, frames.
// So the heap may grow to one and a half of what is in use instead of twice, and what is free is given back when it rests.
const (
	heapGrowth = 50 // per cent
	restAfter  = 5 * time.Second
)

// thrift gives memory back once after each time that a session has worked. It is safe for concurrent use.
type thrift struct {
	give func() // memory back to the system
	wait time.Duration

	mu      sync.Mutex
	pending *time.Timer
	worked  bool // since memory was given back
}

// thrifty has this process take less memory, at the cost of some time, until the function that it returns is called.
func thrifty() (*thrift, func()) {
	was := debug.SetGCPercent(heapGrowth)
	t := &thrift{give: debug.FreeOSMemory, wait: restAfter, worked: true}
	return t, func() {
		t.stands(true)
		debug.SetGCPercent(was)
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
		t.worked = true
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
