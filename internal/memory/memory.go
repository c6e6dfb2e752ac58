// Package memory keeps sessions in memory, with the semantics of a durable store: for the simulator and for tests.
//
// A [Home] stands for the disk; every [Store] opened on it stands for a process. [Store.Kill] ends one the way SIGKILL
// would: what was acknowledged stays in the home, the holder is dead at once, and whatever of the "process" still runs
// gets ErrClosed. The caller owes nothing else; nothing here is ever written anywhere.
package memory

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/perdure/perdure/store"
)

// Home is what the stores opened on it share. Its zero value is an empty one.
type Home struct {
	// Now is the clock; nil is the system's. It is set before the first Open.
	Now func() time.Time

	mu       sync.Mutex
	opened   int64
	created  int64
	sessions map[string]*row
	shared   map[string]map[string][]byte // by scope
	holders  map[string]*store.Holder
}

// row is one session with everything that belongs to it.
type row struct {
	no        int64
	info      store.Info
	base      store.Digest
	events    []store.Event
	items     []item
	snapshots []store.Snapshot // in order of saving
	readers   map[[2]string]int64
}

type item struct {
	store.Item
	drained int64 // when, ms UTC
	done    bool
}

// Store is one holder on a home. It implements [store.Store] and [store.Taker].
type Store struct {
	home   *Home
	id     string
	closed bool
	poison error
}

var (
	_ store.Store = (*Store)(nil)
	_ store.Taker = (*Store)(nil)
)

// Open opens another store on the home.
func (h *Home) Open() *Store {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions == nil {
		h.sessions, h.holders = map[string]*row{}, map[string]*store.Holder{}
	}
	h.opened++
	s := &Store{home: h, id: fmt.Sprintf("holder-%d", h.opened)}
	h.holders[s.id] = &store.Holder{ID: s.id, Host: "memory", PID: int(h.opened), Since: h.now(), Alive: store.Alive}
	return s
}

func (h *Home) now() int64 {
	if h.Now == nil {
		return systemClock().UnixMilli()
	}
	return h.Now().UnixMilli()
}

// Close frees the sessions that are held; a second Close does nothing.
func (s *Store) Close() error {
	s.home.mu.Lock()
	defer s.home.mu.Unlock()
	if s.poison != nil {
		return s.poison
	}
	if s.closed {
		return nil
	}
	s.closed = true
	for _, r := range s.home.sessions {
		if r.info.Holder != nil && r.info.Holder.ID == s.id {
			r.info.Holder = nil
		}
	}
	s.home.holders[s.id].Alive = store.Dead
	return nil
}

// Kill ends the store as SIGKILL ends a process.
func (s *Store) Kill() {
	s.home.mu.Lock()
	defer s.home.mu.Unlock()
	s.closed = true
	s.home.holders[s.id].Alive = store.Dead
}

// Poison makes every later call fail with ErrUncertain, as a failed commit does. The holder lives on until Kill.
func (s *Store) Poison(cause error) {
	s.home.mu.Lock()
	defer s.home.mu.Unlock()
	if s.poison == nil {
		s.poison = fmt.Errorf("%w: %w", store.ErrUncertain, cause)
	}
}

// call runs f alone, if the store may still be used; op and id name it in errors.
func (s *Store) call(ctx context.Context, op, id string, f func(h *Home) error) error {
	s.home.mu.Lock()
	defer s.home.mu.Unlock()
	err := ctx.Err()
	switch {
	case s.poison != nil:
		err = s.poison
	case s.closed:
		err = store.ErrClosed
	}
	if err == nil {
		err = f(s.home)
	}
	if err != nil {
		return fmt.Errorf("%s session %s: %w", op, id, err)
	}
	return nil
}

// with is call on an existing session.
func (s *Store) with(ctx context.Context, op, id string, f func(h *Home, r *row) error) error {
	return s.call(ctx, op, id, func(h *Home) error {
		r := h.sessions[id]
		if r == nil {
			return store.Missing(id)
		}
		return f(h, r)
	})
}

// view is the row as handed out: the caller's own copy.
func (h *Home) view(r *row) store.Info {
	info := r.info
	info.Heads = cloneHeads(info.Heads)
	if info.Parent != nil {
		p := *info.Parent
		info.Parent = &p
	}
	if info.Holder != nil {
		holder := *h.holders[info.Holder.ID]
		info.Holder = &holder
	}
	info.Pending = 0
	for _, it := range r.items {
		if it.N > info.Mark {
			info.Pending++
		}
	}
	return info
}

func cloneHeads(h store.Heads) store.Heads {
	if len(h.Labels) == 0 {
		h.Labels = nil
	}
	h.Labels = maps.Clone(h.Labels)
	h.Extra = bytes.Clone(h.Extra)
	if h.CostNano != nil {
		nano := *h.CostNano
		h.CostNano = &nano
	}
	return h
}

func cloneEvents(events []store.Event) []store.Event {
	events = slices.Clone(events)
	for i := range events {
		events[i].Body = bytes.Clone(events[i].Body)
	}
	return events
}
