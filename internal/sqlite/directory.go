package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/perdure/perdure/store"
)

// Create adds a session; see [store.Directory].
func (s *Store) Create(ctx context.Context, n store.NewSession) error {
	if err := store.CheckID(n.ID); err != nil {
		return fmt.Errorf("create session: %w", err)
	}
	if n.Heads.Labels == nil {
		n.Heads.Labels = n.Labels
	}
	labels, err := labelText(n.Heads.Labels)
	if err != nil {
		return fmt.Errorf("create session %s: %w", n.ID, err)
	}
	bytes, err := checkFirst(n.Events)
	if err != nil {
		return fmt.Errorf("create session %s: %w", n.ID, err)
	}
	err = s.write(ctx, 1+len(n.Events), len(labels)+len(n.Heads.Extra)+bytes, func(c *conn) error {
		return createTx(c, n, labels, bytes)
	})
	if err != nil {
		return fmt.Errorf("create session %s: %w", n.ID, err)
	}
	return nil
}

func createTx(c *conn, n store.NewSession, labels string, bytes int) error {
	if found, err := c.one("SELECT 1 FROM session WHERE id = ?1", []any{n.ID}, nil); err != nil {
		return err
	} else if found {
		return store.ErrExists
	}
	if err := share(c, n.Shared); err != nil {
		return err
	}
	var parent any
	var fork int64
	var base store.Digest
	if p := n.Parent; p != nil {
		no, err := checkFork(c, *p)
		if err != nil {
			return err
		}
		parent, fork, base = no, p.Seq, p.Hash
	}
	head, updated := store.Head{Hash: base}, n.Created
	if len(n.Events) > 0 {
		last := n.Events[len(n.Events)-1]
		head, updated = store.Head{Seq: last.Seq, Hash: last.Hash}, last.Time
	}
	if _, err := c.exec(`INSERT INTO session (id, parent_no, fork_seq, base_hash, head_seq, head_hash, updated, bytes)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`, n.ID, parent, fork, base[:], head.Seq, head.Hash[:], updated, bytes); err != nil {
		return err
	}
	var sno int64
	if _, err := c.one("SELECT sno FROM session WHERE id = ?1", []any{n.ID}, func(v []driver.Value) error {
		sno = number(v[0])
		return nil
	}); err != nil {
		return err
	}
	h := n.Heads
	if _, err := c.exec(`INSERT INTO listing (sno, owner, created, title, lifecycle, activity, cwd, model, turns, cost_nano, labels, extra)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`,
		sno, n.Owner, n.Created, h.Title, h.Lifecycle, h.Activity, h.Cwd, h.Model, h.Turns, cost(h.CostNano), labels, blob(h.Extra)); err != nil {
		return err
	}
	for i := range n.Events {
		if err := insertEvent(c, sno, &n.Events[i]); err != nil {
			return err
		}
	}
	c.changed = acknowledged{Session: n.ID, SNo: sno, Seq: head.Seq}
	return insertLabels(c, sno, h.Labels)
}

// checkFirst is checkBatch for the events that begin a log.
func checkFirst(events []store.Event) (int, error) {
	if len(events) > 0 && events[0].Seq != 1 {
		return 0, fmt.Errorf("the first event has seq %d: want 1", events[0].Seq)
	}
	return checkBatch(events)
}

// checkFork returns the parent's number if its log has that hash at that seq.
func checkFork(c *conn, p store.Position) (int64, error) {
	var sno int64
	var hash store.Digest
	found, err := c.one("SELECT sno, base_hash FROM session WHERE id = ?1", []any{p.Session}, func(v []driver.Value) error {
		sno, hash = number(v[0]), digest(v[1])
		return nil
	})
	if err != nil {
		return 0, err
	}
	if !found {
		return 0, fmt.Errorf("parent %s: %w", p.Session, store.ErrNotFound)
	}
	if p.Seq != 0 {
		if found, err = c.one("SELECT hash FROM event WHERE session_no = ?1 AND seq = ?2", []any{sno, p.Seq}, func(v []driver.Value) error {
			hash = digest(v[0])
			return nil
		}); err != nil {
			return 0, err
		}
	}
	if !found || hash != p.Hash {
		return 0, fmt.Errorf("parent %s has another history at seq %d: %w", p.Session, p.Seq, store.ErrConflict)
	}
	return sno, nil
}

// Get returns one session's row; see [store.Directory].
func (s *Store) Get(ctx context.Context, id string) (store.Info, error) {
	var row infoRow
	err := s.read(ctx, func(c *conn) error {
		var err error
		row, err = s.getRow(c, id)
		return err
	})
	if err != nil {
		return store.Info{}, fmt.Errorf("get session %s: %w", id, err)
	}
	return row.info, nil
}
