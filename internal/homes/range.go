package homes

import (
	"context"
	"iter"
	"slices"

	"github.com/perdure/perdure/store"
)

// Range selects events of a session's own log. The zero value is all of them.
type Range struct {
	After   int64        // only those with a greater seq
	Through int64        // only those up to this seq; 0: the head
	Kinds   []store.Kind // only these; none: all
	Last    int          // of what the others select, the newest so many; 0: all
	Reverse bool         // the newest first
}

// maxWindow bounds how many events are read at a time, and held, when a log is read backwards.
const maxWindow = 1024

// Range yields the events that r selects. What is asked for from the end is read from there: a log's length does not
// matter. Errors: store.ErrNotFound, *store.CorruptError.
func (h *Home) Range(ctx context.Context, id string, r Range) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		if r.Last <= 0 && !r.Reverse {
			h.forwards(ctx, id, r, yield)
			return
		}
		if r.Reverse {
			h.backwards(ctx, id, r, yield)
			return
		}
		var last []store.Event // the newest first
		var failed error
		h.backwards(ctx, id, r, func(ev store.Event, err error) bool {
			if failed = err; err == nil {
				last = append(last, ev)
			}
			return true
		})
		if failed != nil {
			yield(store.Event{}, failed)
			return
		}
		for _, ev := range slices.Backward(last) {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

func (r Range) wants(ev store.Event) bool {
	return len(r.Kinds) == 0 || slices.Contains(r.Kinds, ev.Kind)
}

func (h *Home) forwards(ctx context.Context, id string, r Range, yield func(store.Event, error) bool) {
	for ev, err := range h.store.Read(ctx, id, max(r.After, 0)+1, r.Through) {
		if err != nil {
			yield(store.Event{}, err)
			return
		}
		if r.wants(ev) && !yield(ev, nil) {
			return
		}
	}
}

// backwards reads windows from the end on, each larger than the one before it.
func (h *Home) backwards(ctx context.Context, id string, r Range, yield func(store.Event, error) bool) {
	info, err := h.store.Get(ctx, id)
	if err != nil {
		yield(store.Event{}, err)
		return
	}
	to, first := info.Head.Seq, max(r.After, 0)+1
	if r.Through > 0 {
		to = min(to, r.Through)
	}
	size, left := int64(16), r.Last
	if r.Last > 0 {
		size = int64(min(r.Last, maxWindow))
	}
	for to >= first {
		from := max(first, to-size+1)
		window := make([]store.Event, 0, to-from+1)
		for ev, err := range h.store.Read(ctx, id, from, to) {
			if err != nil {
				yield(store.Event{}, err)
				return
			}
			window = append(window, ev)
		}
		for _, ev := range slices.Backward(window) {
			if !r.wants(ev) {
				continue
			}
			if !yield(ev, nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
		to, size = from-1, min(size*4, maxWindow)
	}
}
