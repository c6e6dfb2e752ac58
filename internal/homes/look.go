package homes

import (
	"context"
	"iter"
	"sync"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
)

// looks are those in this process who see what sessions show, by session.
type looks struct {
	mu   sync.Mutex
	last int
	of   map[string]map[int]func(engine.Update)
}

// add lets see have what a session shows, in the session's loop, until stop is called. It must not block.
func (l *looks) add(id string, see func(engine.Update)) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[string]map[int]func(engine.Update){}
	}
	if l.of[id] == nil {
		l.of[id] = map[int]func(engine.Update){}
	}
	l.last++
	n := l.last
	l.of[id][n] = see
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if delete(l.of[id], n); len(l.of[id]) == 0 {
			delete(l.of, id)
		}
	}
}

// show hands an update to all who look.
func (l *looks) show(u engine.Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, see := range l.of[u.Session] {
		see(u)
	}
}

// observe hands on what the engine shows.
func (h *Home) observe(u engine.Update) {
	if h.cfg.Observe != nil {
		h.cfg.Observe(u)
	}
	h.looks.show(u)
}

// maxUnseen bounds what is kept for one who looks slower than the session goes on. Of more, deltas are lost, since the
// event that follows them holds their text, and events are read from the log.
const maxUnseen = 1024

// stream is one who looks at a session at his own pace.
type stream struct {
	mu      sync.Mutex
	unseen  []engine.Update
	lagging bool          // events are to be read from the log
	news    chan struct{} // holds one if there is something
}

func (s *stream) see(u engine.Update) {
	s.mu.Lock()
	switch {
	case s.lagging:
	case len(s.unseen) < maxUnseen:
		s.unseen = append(s.unseen, u)
	default:
		s.lagging = u.Event != nil
	}
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// take gives what is unseen, and reports whether the log has more.
func (s *stream) take() (unseen []engine.Update, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unseen, more = s.unseen, s.lagging
	s.unseen, s.lagging = nil, false
	return unseen, more
}

// updates yields the events after a seq, first those in the log, and the deltas from now on, until done is closed or ctx
// ends. No event is missing, none comes twice.
func (h *Home) updates(ctx context.Context, id string, after int64, done <-chan struct{}) iter.Seq2[engine.Update, error] {
	return func(yield func(engine.Update, error) bool) {
		s := &stream{news: make(chan struct{}, 1), lagging: true}
		defer h.looks.add(id, s.see)()
		for over := false; ; {
			unseen, more := s.take()
			for _, u := range unseen {
				if u.Event != nil && u.Event.Seq != after+1 {
					more = more || u.Event.Seq > after
					continue // read from the log, now or before
				}
				if u.Event != nil {
					after = u.Event.Seq
				}
				if !yield(u, nil) {
					return
				}
			}
			if more {
				var ok bool
				if after, ok = h.readOn(ctx, id, after, yield); !ok {
					return
				}
				continue
			}
			if over {
				return
			}
			select {
			case <-s.news:
			case <-done:
				over = true
			case <-ctx.Done():
				yield(engine.Update{}, ctx.Err())
				return
			}
		}
	}
}

// readOn yields the events of the log after a seq, and tells the last one's; not ok: nobody wants more.
func (h *Home) readOn(ctx context.Context, id string, after int64, yield func(engine.Update, error) bool) (last int64, ok bool) {
	for ev, err := range h.store.Read(ctx, id, after+1, 0) {
		var body session.Body
		if err == nil {
			body, err = session.Decode(ev)
		}
		if err != nil {
			yield(engine.Update{}, err)
			return after, false
		}
		if !yield(engine.Update{Session: id, Event: &ev, Body: body}, nil) {
			return after, false
		}
		after = ev.Seq
	}
	return after, true
}
