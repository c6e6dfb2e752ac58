package memory

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/perdure/perdure/store"
)

// Acquire makes this store the holder; see [store.Log].
func (s *Store) Acquire(ctx context.Context, id string) (store.Lease, error) {
	return s.take(ctx, "acquire", id, false)
}

// Takeover makes this store the holder by force; see [store.Taker].
func (s *Store) Takeover(ctx context.Context, id string) (store.Lease, error) {
	return s.take(ctx, "take over", id, true)
}

func (s *Store) take(ctx context.Context, op, id string, force bool) (l store.Lease, err error) {
	err = s.with(ctx, op, id, func(h *Home, r *row) error {
		if holder := h.view(r).Holder; holder != nil && holder.Alive != store.Dead && !force {
			return &store.HeldError{Session: id, Holder: *holder}
		}
		r.info.Epoch++
		r.info.Holder = &store.Holder{ID: s.id}
		l = store.Lease{Session: id, Epoch: r.info.Epoch, Holder: s.id, Info: h.view(r)}
		return nil
	})
	return l, err
}

// Release gives a lease back; see [store.Log].
func (s *Store) Release(ctx context.Context, l store.Lease) error {
	return s.call(ctx, "release", l.Session, func(h *Home) error {
		if r := h.sessions[l.Session]; r != nil && r.holds(l) {
			r.info.Holder = nil
		}
		return nil
	})
}

func (r *row) holds(l store.Lease) bool {
	return r.info.Epoch == l.Epoch && r.info.Holder != nil && r.info.Holder.ID == l.Holder
}

// Append adds a batch to a log; see [store.Log].
func (s *Store) Append(ctx context.Context, l store.Lease, b store.Batch) error {
	return s.with(ctx, "append to", l.Session, func(h *Home, r *row) error {
		if err := checkBatch(b.Events); err != nil {
			return err
		}
		if !r.holds(l) {
			return fmt.Errorf("epoch %d, now %d: %w", l.Epoch, r.info.Epoch, store.ErrFenced)
		}
		if len(b.Events) > 0 && b.Events[0].Seq != r.info.Head.Seq+1 {
			return fmt.Errorf("event %d does not follow %d: %w", b.Events[0].Seq, r.info.Head.Seq, store.ErrConflict)
		}
		if err := h.share(b.Shared); err != nil {
			return err
		}
		r.add(b.Events)
		r.drain(b.Mark, h.now())
		if b.Heads != nil {
			r.info.Heads = cloneHeads(*b.Heads)
		}
		if b.Owner != "" {
			r.info.Owner = b.Owner
		}
		if b.Release {
			r.info.Holder = nil
		}
		return nil
	})
}

// AppendFree adds a batch to the log of a session that nobody holds; see [store.Log].
func (s *Store) AppendFree(ctx context.Context, id string, b store.Batch) error {
	return s.with(ctx, "append to", id, func(h *Home, r *row) error {
		if err := checkBatch(b.Events); err != nil {
			return err
		}
		if len(b.Events) == 0 || b.Mark != 0 {
			return fmt.Errorf("%d events and the mark %d: want events, and no mark", len(b.Events), b.Mark)
		}
		if holder := h.view(r).Holder; holder != nil {
			return &store.HeldError{Session: id, Holder: *holder}
		}
		if b.Events[0].Seq != r.info.Head.Seq+1 {
			return fmt.Errorf("event %d does not follow %d: %w", b.Events[0].Seq, r.info.Head.Seq, store.ErrConflict)
		}
		if err := r.addDrained(b.Item, h.now()); err != nil {
			return err
		}
		if err := h.share(b.Shared); err != nil {
			if b.Item != nil {
				r.items = r.items[:len(r.items)-1]
			}
			return err
		}
		r.add(b.Events)
		if b.Heads != nil {
			r.info.Heads = cloneHeads(*b.Heads)
		}
		if b.Owner != "" {
			r.info.Owner = b.Owner
		}
		return nil
	})
}

// addDrained adds an item that is drained already, with a number that no other item meets.
func (r *row) addDrained(in *store.Item, now int64) error {
	if in == nil {
		return nil
	}
	first := int64(0)
	for _, it := range r.items {
		switch {
		case it.Key != in.Key:
		case it.Digest != in.Digest:
			return fmt.Errorf("key %q: %w", in.Key, store.ErrKeyReused)
		default:
			return fmt.Errorf("key %q: %w", in.Key, store.ErrKnown)
		}
		first = min(first, it.N)
	}
	own := *in
	own.N, own.Body = first-1, nil
	r.items = append(r.items, item{Item: own, drained: now, done: true})
	return nil
}

// checkBatch refuses what could never be appended.
func checkBatch(events []store.Event) error {
	for i, e := range events {
		if e.Seq < 1 || e.Seq != events[0].Seq+int64(i) {
			return fmt.Errorf("event %d of the batch has seq %d: want dense numbers from 1", i, e.Seq)
		}
	}
	return nil
}

// add puts events at the log's end.
func (r *row) add(events []store.Event) {
	for _, e := range cloneEvents(events) {
		r.events = append(r.events, e)
		r.info.Bytes += int64(len(e.Body))
		r.info.Head, r.info.Updated = store.Head{Seq: e.Seq, Hash: e.Hash}, e.Time
	}
}

func (r *row) drain(mark, now int64) {
	if mark <= r.info.Mark {
		return
	}
	r.info.Mark = mark
	for i := range r.items {
		if it := &r.items[i]; it.N <= mark && !it.done {
			it.done, it.drained = true, now
		}
	}
}

// readPage bounds how many events are copied at a time.
const readPage = 1000

// Read yields a session's own events; see [store.Log].
func (s *Store) Read(ctx context.Context, id string, from, to int64) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		from, end := max(from, 1), to
		for first := true; first || from <= end; first = false {
			var page []store.Event
			var prev store.Digest
			err := s.with(ctx, "read", id, func(_ *Home, r *row) error {
				if head := r.info.Head.Seq; first && (end == 0 || end > head) {
					end = head
				}
				if from > end {
					return nil
				}
				if prev = r.base; from > 1 {
					prev = r.events[from-2].Hash
				}
				page = cloneEvents(r.events[from-1 : min(end, from-1+readPage)])
				return nil
			})
			for _, e := range page {
				if fault := store.Verify(prev, id, e); fault != nil {
					err = fmt.Errorf("read session %s: %w", id, &store.CorruptError{Session: id, Seq: e.Seq, Cause: fault})
					break
				}
				if !yield(e, nil) {
					return
				}
				prev, from = e.Hash, e.Seq+1
			}
			if err != nil {
				yield(store.Event{}, err)
				return
			}
		}
	}
}

// SaveSnapshot stores a cached state; see [store.Log].
func (s *Store) SaveSnapshot(ctx context.Context, id string, n store.Snapshot) error {
	return s.with(ctx, "save snapshot of", id, func(_ *Home, r *row) error {
		n.State = append([]byte{}, n.State...)
		kept := r.snapshots[:0:0]
		for _, old := range r.snapshots {
			if old.Seq != n.Seq || old.FoldVersion != n.FoldVersion {
				kept = append(kept, old)
			}
		}
		kept = append(kept, n)
		r.snapshots = kept[max(0, len(kept)-2):]
		return nil
	})
}

// LoadSnapshot returns the newest snapshot; see [store.Log].
func (s *Store) LoadSnapshot(ctx context.Context, id string, foldVersion int, atMost int64) (found *store.Snapshot, err error) {
	err = s.with(ctx, "load snapshot of", id, func(_ *Home, r *row) error {
		for _, n := range r.snapshots {
			if n.FoldVersion == foldVersion && (atMost == 0 || n.Seq <= atMost) && (found == nil || n.Seq > found.Seq) {
				n.State = bytes.Clone(n.State)
				found = &n
			}
		}
		return nil
	})
	return found, err
}

// SetReader stores a reader's output position; see [store.Log].
func (s *Store) SetReader(ctx context.Context, id, task, reader string, position int64) error {
	return s.with(ctx, "set reader of", id, func(_ *Home, r *row) error {
		r.readers[[2]string{task, reader}] = position
		return nil
	})
}

// Reader returns a reader's output position; see [store.Log].
func (s *Store) Reader(ctx context.Context, id, task, reader string) (position int64, err error) {
	err = s.with(ctx, "reader of", id, func(_ *Home, r *row) error {
		position = r.readers[[2]string{task, reader}]
		return nil
	})
	return position, err
}
