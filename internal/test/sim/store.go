package sim

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// disk is the store as a process sees it.
type disk struct {
	store.Store
	p *process
	// held are batches that a lying disk has acknowledged but not written; see [Config].
	held []store.Batch
}

// acked is an event that a process was told is durable.
type acked struct {
	session string
	seq     int64
	hash    store.Digest
}

func (d *disk) Create(ctx context.Context, s store.NewSession) error {
	if err := d.p.point("create.before"); err != nil {
		return err
	}
	if err := d.Store.Create(ctx, s); err != nil {
		return err
	}
	if err := d.p.point("create.after"); err != nil {
		return err
	}
	d.acknowledge(s.ID, s.Events)
	return nil
}

// acknowledge notes events that the process was told are durable.
func (d *disk) acknowledge(id string, events []store.Event) {
	w := d.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range events {
		w.acked = append(w.acked, acked{id, e.Seq, e.Hash})
	}
}

func (d *disk) Acquire(ctx context.Context, id string) (store.Lease, error) {
	if err := d.p.point("acquire.before"); err != nil {
		return store.Lease{}, err
	}
	l, err := d.Store.Acquire(ctx, id)
	if err != nil {
		return l, err
	}
	return l, d.p.point("acquire.after")
}

func (d *disk) Release(ctx context.Context, l store.Lease) error {
	if err := d.p.point("release.before"); err != nil {
		return err
	}
	if err := d.flush(ctx, l, store.Batch{}, 0); err != nil {
		return err
	}
	if err := d.Store.Release(ctx, l); err != nil {
		return err
	}
	return d.p.point("release.after")
}

func (d *disk) Append(ctx context.Context, l store.Lease, b store.Batch) error {
	name := "append"
	if b.Release {
		name = "release"
	}
	if err := d.p.point(name + ".before"); err != nil {
		return err
	}
	if err := d.write(ctx, l, b); err != nil {
		return err
	}
	if err := d.p.point(name + ".after"); err != nil {
		return err
	}
	d.acknowledge(l.Session, b.Events)
	return nil
}

func (d *disk) write(ctx context.Context, l store.Lease, b store.Batch) error {
	cfg := d.p.w.cfg
	switch {
	case cfg.Volatile > 0 && !b.Release:
		return d.flush(ctx, l, b, cfg.Volatile)
	case cfg.Volatile > 0:
		return d.flush(ctx, l, b, 0)
	case cfg.LateIntent && slices.ContainsFunc(b.Events, isIntent):
		d.held = append(d.held, b)
		return nil
	case cfg.LateIntent:
		return d.flush(ctx, l, b, 0)
	}
	return d.Store.Append(ctx, l, b)
}

// isIntent reports whether an event opens an act.
func isIntent(e store.Event) bool {
	return e.Kind == session.KindToolStarted || e.Kind == session.KindModelRequested
}

// flush writes what is held, then b, but keeps the newest batches back.
func (d *disk) flush(ctx context.Context, l store.Lease, b store.Batch, keep int) error {
	if len(b.Events) > 0 || b.Mark > 0 {
		d.held = append(d.held, b)
	}
	for len(d.held) > keep {
		if err := d.Store.Append(ctx, l, d.held[0]); err != nil {
			return err
		}
		d.held = d.held[1:]
	}
	return nil
}

func (d *disk) SaveSnapshot(ctx context.Context, id string, s store.Snapshot) error {
	if err := d.p.point("snapshot.before"); err != nil {
		return err
	}
	if d.p.w.cfg.NoSnapshots {
		return nil
	}
	if err := d.Store.SaveSnapshot(ctx, id, s); err != nil {
		return err
	}
	return d.p.point("snapshot.after")
}

func (d *disk) LoadSnapshot(ctx context.Context, id string, fold int, atMost int64) (*store.Snapshot, error) {
	if err := d.p.point("load"); err != nil {
		return nil, err
	}
	return d.Store.LoadSnapshot(ctx, id, fold, atMost)
}

func (d *disk) Read(ctx context.Context, id string, from, to int64) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		if err := d.p.point("read"); err != nil {
			yield(store.Event{}, fmt.Errorf("read session %s: %w", id, err))
			return
		}
		d.Store.Read(ctx, id, from, to)(yield)
	}
}

func (d *disk) Pending(ctx context.Context, id string, after int64, limit int) ([]store.Item, error) {
	w := d.p.w
	w.mu.Lock()
	w.polls++
	dead := d.p.dead
	w.mu.Unlock()
	if dead {
		return nil, ErrDead
	}
	return d.Store.Pending(ctx, id, after, limit)
}
