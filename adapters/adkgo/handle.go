package adkgo

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/perdure/perdure/store"
	adk "google.golang.org/adk/v2/session"
)

// handle is a session as its caller has it: as it was when it was got, and what was appended through it since.
type handle struct {
	key, app, user, id string

	mu      sync.RWMutex
	head    store.Head
	updated int64 // ms UTC
	state   map[string]any
	events  []*adk.Event
}

func (h *handle) ID() string         { return h.id }
func (h *handle) AppName() string    { return h.app }
func (h *handle) UserID() string     { return h.user }
func (h *handle) State() adk.State   { return (*state)(h) }
func (h *handle) Events() adk.Events { return (*events)(h) }

func (h *handle) LastUpdateTime() time.Time {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return time.UnixMilli(h.updated)
}

func (h *handle) newest() store.Head {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.head
}

func (h *handle) merge(delta map[string]any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.Copy(h.state, delta)
}

// appended takes what was appended through this handle. An event that it has already is a repetition.
func (h *handle) appended(e *adk.Event, head store.Head) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.ContainsFunc(h.events, func(old *adk.Event) bool { return old.ID == e.ID }) {
		h.events = append(h.events, e)
	}
	h.head = head
	if !e.Timestamp.IsZero() {
		h.updated = max(h.updated, e.Timestamp.UnixMilli())
	}
}

// state is a handle as ADK's State.
type state handle

func (s *state) Get(key string) (any, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok := s.state[key]
	if !ok {
		return nil, adk.ErrStateKeyNotExist
	}
	return v, nil
}

// Set changes the handle alone, as ADK's own services do: what is to stay comes with an event.
func (s *state) Set(key string, value any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state[key] = value
	return nil
}

func (s *state) All() iter.Seq2[string, any] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.All(maps.Clone(s.state))
}

// events is a handle as ADK's Events.
type events handle

func (e *events) list() []*adk.Event {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.events[:len(e.events):len(e.events)]
}

func (e *events) All() iter.Seq[*adk.Event] { return slices.Values(e.list()) }
func (e *events) Len() int                  { return len(e.list()) }

func (e *events) At(i int) *adk.Event {
	if l := e.list(); i >= 0 && i < len(l) {
		return l[i]
	}
	return nil
}
