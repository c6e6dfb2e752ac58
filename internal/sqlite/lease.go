package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/perdure/perdure/store"
)

// lease is what this store remembers of a session it holds: the number of its rows, and the listing as written last,
// so that an append that changes nothing in it does not write it.
type lease struct {
	sno   int64
	epoch int64

	// The writer's goroutine alone uses these.
	known bool // false after a rollback, which may have undone what is remembered here
	owner string
	heads store.Heads
}

// How often, and how many times, a holder is looked at that has ended but whose lock is still seen.
const (
	goingPause = 5 * time.Millisecond
	goingTries = 400
)

// Acquire makes this store the holder; see [store.Log]. A holder that was killed may keep its lock for another moment:
// until the kernel has taken it down, and until a child that it was just starting has let go of its files. That is
// waited for, at most two seconds.
func (s *Store) Acquire(ctx context.Context, id string) (store.Lease, error) {
	for try := 0; ; try++ {
		l, err := s.take(ctx, id, false)
		if err == nil {
			return l, nil
		}
		var held *store.HeldError
		if try == goingTries || !errors.As(err, &held) || !s.holders.going(held.Holder) {
			return store.Lease{}, fmt.Errorf("acquire session %s: %w", id, err)
		}
		select {
		case <-ctx.Done():
			return store.Lease{}, fmt.Errorf("acquire session %s: %w", id, ctx.Err())
		case <-time.After(goingPause):
		}
	}
}

// Takeover makes this store the holder by force; see [store.Taker].
func (s *Store) Takeover(ctx context.Context, id string) (store.Lease, error) {
	l, err := s.take(ctx, id, true)
	if err != nil {
		return store.Lease{}, fmt.Errorf("take over session %s: %w", id, err)
	}
	return l, nil
}

func (s *Store) take(ctx context.Context, id string, force bool) (store.Lease, error) {
	var row infoRow
	err := s.write(ctx, 1, 0, func(c *conn) error {
		var err error
		if row, err = s.getRow(c, id); err != nil {
			return err
		}
		if h := row.info.Holder; h != nil && !force && h.Alive != store.Dead {
			return &store.HeldError{Session: id, Holder: *h}
		}
		row.info.Epoch++
		_, err = c.exec("UPDATE session SET holder = ?1, epoch = ?2 WHERE sno = ?3", s.self.id, row.info.Epoch, row.sno)
		return err
	})
	if err != nil {
		return store.Lease{}, err
	}
	me := s.holders.find(s.self.id)
	row.info.Holder = &me
	l := store.Lease{Session: id, Epoch: row.info.Epoch, Holder: s.self.id, Info: row.info}
	s.mu.Lock()
	s.held[id] = &lease{sno: row.sno, epoch: l.Epoch, known: true, owner: row.info.Owner, heads: row.info.Heads}
	s.mu.Unlock()
	return l, nil
}

const sqlRelease = "UPDATE session SET holder = NULL WHERE id = ?1 AND epoch = ?2 AND holder = ?3"

// Release gives a lease back; see [store.Log].
func (s *Store) Release(ctx context.Context, l store.Lease) error {
	err := s.write(ctx, 1, 0, func(c *conn) error {
		rows, err := c.exec(sqlRelease, l.Session, l.Epoch, l.Holder)
		if err == nil && rows == 0 {
			return errNothing
		}
		return err
	})
	if errors.Is(err, errNothing) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("release session %s: %w", l.Session, err)
	}
	s.forget(l)
	return nil
}

// forget drops what this store remembers of a lease that was given back.
func (s *Store) forget(l store.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held := s.held[l.Session]; held != nil && held.epoch == l.Epoch {
		delete(s.held, l.Session)
	}
}

// errNothing spares the sync of a write that had nothing to change.
var errNothing = errors.New("nothing to change")

// releaseAll frees what this store holds, in one write.
func (s *Store) releaseAll() error {
	s.mu.Lock()
	held := len(s.held)
	clear(s.held)
	s.mu.Unlock()
	if held == 0 {
		return nil
	}
	return s.write(context.Background(), held, 0, func(c *conn) error {
		_, err := c.exec("UPDATE session SET holder = NULL WHERE holder = ?1", s.self.id)
		return err
	})
}

// holding finds the rows of a lease. One that this store does not hold is looked up, so that the append is refused
// for the right reason.
func (s *Store) holding(ctx context.Context, l store.Lease) (*lease, error) {
	s.mu.Lock()
	held := s.held[l.Session]
	s.mu.Unlock()
	if held != nil && held.epoch == l.Epoch {
		return held, nil
	}
	unheld := &lease{epoch: l.Epoch}
	err := s.read(ctx, func(c *conn) error {
		row, err := s.getRow(c, l.Session)
		unheld.sno = row.sno
		return err
	})
	return unheld, err
}

// list writes what a batch changes of the listing.
func (l *lease) list(c *conn, b store.Batch) error {
	if l.known && (b.Owner == "" || b.Owner == l.owner) && (b.Heads == nil || sameHeads(*b.Heads, l.heads)) {
		return nil
	}
	if b.Owner != "" {
		if _, err := c.exec("UPDATE listing SET owner = ?1 WHERE sno = ?2", b.Owner, l.sno); err != nil {
			return err
		}
		l.owner = b.Owner
	}
	if b.Heads == nil {
		return nil
	}
	if err := updateHeads(c, l.sno, b.Heads); err != nil {
		return err
	}
	l.heads = cloneHeads(*b.Heads)
	return nil
}

func cloneHeads(h store.Heads) store.Heads {
	h.Labels = maps.Clone(h.Labels)
	h.Extra = bytes.Clone(h.Extra)
	if h.CostNano != nil {
		nano := *h.CostNano
		h.CostNano = &nano
	}
	return h
}

// forgetListings makes the next append of every lease write its listing.
func (s *Store) forgetListings() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.held {
		l.known = false
	}
}

func sameHeads(a, b store.Heads) bool {
	if (a.CostNano == nil) != (b.CostNano == nil) || a.CostNano != nil && *a.CostNano != *b.CostNano {
		return false
	}
	return a.Title == b.Title && a.Lifecycle == b.Lifecycle && a.Activity == b.Activity && a.Cwd == b.Cwd &&
		a.Model == b.Model && a.Turns == b.Turns && maps.Equal(a.Labels, b.Labels) && bytes.Equal(a.Extra, b.Extra)
}

const sqlHeads = `UPDATE listing SET title = ?1, lifecycle = ?2, activity = ?3, cwd = ?4, model = ?5,
	turns = ?6, cost_nano = ?7, labels = ?8, extra = ?9 WHERE sno = ?10`

func updateHeads(c *conn, sno int64, h *store.Heads) error {
	labels, err := labelText(h.Labels)
	if err != nil {
		return err
	}
	if _, err := c.exec(sqlHeads, h.Title, h.Lifecycle, h.Activity, h.Cwd, h.Model, h.Turns, cost(h.CostNano), labels,
		blob(h.Extra), sno); err != nil {
		return err
	}
	if _, err := c.exec("DELETE FROM label WHERE sno = ?1", sno); err != nil {
		return err
	}
	return insertLabels(c, sno, h.Labels)
}

func insertLabels(c *conn, sno int64, labels map[string]string) error {
	for k, v := range labels {
		if _, err := c.exec("INSERT INTO label (key, value, sno) VALUES (?1, ?2, ?3)", k, v, sno); err != nil {
			return err
		}
	}
	return nil
}

func cost(nano *int64) any {
	if nano == nil {
		return nil
	}
	return *nano
}
