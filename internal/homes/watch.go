package homes

import (
	"context"
	"iter"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// How often one who watches looks whether a running model call has said more: often while it talks, less while it thinks
// or its process is gone.
const (
	wordsEvery = 40 * time.Millisecond
	quietEvery = 200 * time.Millisecond
	quietAfter = 2 * time.Second
)

// Watch is Follow with the words of the model while they come, whichever process runs the session: each event after a
// seq, decoded, and the deltas of the model call that runs. No event is missing, none comes twice; deltas may be missing,
// and those of a call that has ended are. It ends when ctx ends, with ctx's error, or with the first error of the store.
func (h *Home) Watch(ctx context.Context, id string, after int64) iter.Seq2[engine.Update, error] {
	return func(yield func(engine.Update, error) bool) {
		w := &watch{home: h, id: id, next: max(after, 0) + 1, yield: yield}
		defer w.leave()
		if st, err := h.State(ctx, id); err == nil {
			w.see(openCall(st))
		}
		changed, stop, every := h.changes(id)
		defer stop()
		for w.events(ctx) && w.words() {
			select {
			case <-ctx.Done():
				yield(engine.Update{}, ctx.Err())
				return
			case <-changed:
			case <-time.After(w.pause(every)):
			}
		}
	}
}

// watch is one who watches a session.
type watch struct {
	home  *Home
	id    string
	next  int64 // seq of the event that comes next
	yield func(engine.Update, error) bool
	call  *engine.SideLook // the model call that runs; nil: none
	spoke time.Time        // when it last said something
}

// openCall is the id of the model call that runs; empty: none does.
func openCall(st *session.State) string {
	if c := st.NewestCall(); c != nil && c.Status == session.CallRequested {
		return c.ID
	}
	return ""
}

// see looks at a model call from now on.
func (w *watch) see(act string) {
	w.leave()
	if act != "" {
		w.call, w.spoke = w.home.eng.LookAt(w.id, act), w.home.cfg.Now()
	}
}

func (w *watch) leave() {
	if w.call != nil {
		w.call.Close()
		w.call = nil
	}
}

// events hands on the events that have come; false: nobody wants more, or they cannot be read.
func (w *watch) events(ctx context.Context) bool {
	info, err := w.home.store.Get(ctx, w.id)
	if err != nil {
		w.yield(engine.Update{}, err)
		return false
	}
	if info.Head.Seq < w.next {
		return true
	}
	for ev, err := range w.home.store.Read(ctx, w.id, w.next, info.Head.Seq) {
		if err != nil {
			w.yield(engine.Update{}, err)
			return false
		}
		if !w.event(ev) {
			return false
		}
	}
	return true
}

func (w *watch) event(ev store.Event) bool {
	body, err := session.Decode(ev)
	if err != nil {
		w.yield(engine.Update{}, err)
		return false
	}
	w.next = ev.Seq + 1
	switch b := body.(type) {
	case *session.ModelRequested:
		w.see(b.Act)
	case *session.ModelResponded, *session.ModelFailed, *session.ModelLost, *session.Resumed:
		w.leave()
	default:
	}
	return w.yield(engine.Update{Session: w.id, Event: &ev, Body: body}, nil)
}

// words hands on what the model has said since; false: nobody wants more.
func (w *watch) words() bool {
	for w.call != nil {
		said := w.call.Next()
		if len(said) == 0 {
			return true
		}
		w.spoke = w.home.cfg.Now()
		for _, u := range said {
			if !w.yield(u, nil) {
				return false
			}
		}
	}
	return true
}

// pause is how long nothing is looked at, unless the log grows.
func (w *watch) pause(idle time.Duration) time.Duration {
	switch {
	case w.call == nil:
		return idle
	case w.home.cfg.Now().Sub(w.spoke) > quietAfter:
		return min(quietEvery, idle)
	}
	return min(wordsEvery, idle)
}
