package modeltest

import (
	"context"
	"sync"
)

// stalls holds answers until they are released by name. A release lasts: later
// arrivals under the name pass at once.
type stalls struct {
	mu       sync.Mutex
	names    map[string]*stall
	closed   chan struct{}
	closeAll sync.Once
}

type stall struct {
	arrivals int
	changed  chan struct{} // closed and replaced at each arrival
	released chan struct{}
	open     bool
}

func newStalls() *stalls {
	return &stalls{names: map[string]*stall{}, closed: make(chan struct{})}
}

func (s *stalls) get(name string) *stall {
	st := s.names[name]
	if st == nil {
		st = &stall{changed: make(chan struct{}), released: make(chan struct{})}
		s.names[name] = st
	}
	return st
}

// hold waits for the release. It reports false when the client is gone or the
// server closes first.
func (s *stalls) hold(ctx context.Context, name string) bool {
	s.mu.Lock()
	st := s.get(name)
	st.arrivals++
	close(st.changed)
	st.changed = make(chan struct{})
	s.mu.Unlock()
	select {
	case <-st.released:
		return true
	case <-ctx.Done():
	case <-s.closed:
	}
	return false
}

// wait returns when n answers have arrived under the name.
func (s *stalls) wait(ctx context.Context, name string, n int) error {
	for {
		s.mu.Lock()
		st := s.get(name)
		arrivals, changed := st.arrivals, st.changed
		s.mu.Unlock()
		if arrivals >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.closed:
			return ErrClosed
		}
	}
}

func (s *stalls) release(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.get(name); !st.open {
		st.open = true
		close(st.released)
	}
}

func (s *stalls) close() { s.closeAll.Do(func() { close(s.closed) }) }
