package homes

import (
	"context"
	"iter"
	"time"

	"github.com/perdure/perdure/store"
)

// Follow yields a session's events from a seq on, first those in the log, then each as it becomes durable, whoever
// appends it. It ends when ctx ends, with ctx's error, or with the first error of the store.
func (h *Home) Follow(ctx context.Context, id string, from int64) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		next := max(from, 1)
		changed, stop, every := h.changes(id)
		defer stop()
		for {
			info, err := h.store.Get(ctx, id)
			if err == nil && info.Head.Seq >= next {
				for ev, err := range h.store.Read(ctx, id, next, info.Head.Seq) {
					if !yield(ev, err) || err != nil {
						return
					}
					next = ev.Seq + 1
				}
			}
			if err != nil {
				yield(store.Event{}, err)
				return
			}
			select {
			case <-ctx.Done():
				yield(store.Event{}, ctx.Err())
				return
			case <-changed:
			case <-time.After(every):
			}
		}
	}
}

// changes is how one who waits for a change of a session hears of it, and how often he looks by himself.
func (h *Home) changes(id string) (changed <-chan struct{}, stop func(), every time.Duration) {
	if n, ok := h.store.(store.Notifier); ok {
		if changed, stop, ok := n.Changes(id); ok {
			return changed, stop, idleEvery
		}
	}
	return nil, func() {}, pollEvery
}

// Events yields a session's own events with from ≤ seq ≤ to; to 0 is the head.
func (h *Home) Events(ctx context.Context, id string, from, to int64) iter.Seq2[store.Event, error] {
	return h.store.Read(ctx, id, max(from, 1), to)
}
