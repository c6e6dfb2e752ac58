package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/store"
)

// unfitError refuses sessions that cannot be imported. What was written of them is undone by then.
type unfitError struct{ cause error }

func (e *unfitError) Error() string { return e.cause.Error() }
func (e *unfitError) Unwrap() error { return e.cause }

// Import adds sessions with their logs; see [store.Importer]. The logs are read within the transaction, one event at a
// time: other writers wait meanwhile.
func (s *Store) Import(ctx context.Context, sessions ...store.Imported) error {
	bytes, labels := int64(0), make([]string, len(sessions))
	for i := range sessions {
		n := &sessions[i]
		if err := store.CheckID(n.ID); err != nil {
			return fmt.Errorf("import session: %w", err)
		}
		if n.Heads.Labels == nil {
			n.Heads.Labels = n.Labels
		}
		var err error
		if labels[i], err = labelText(n.Heads.Labels); err != nil {
			return fmt.Errorf("import session %s: %w", n.ID, err)
		}
		bytes += n.Bytes + int64(len(labels[i])+len(n.Heads.Extra))
	}
	err := s.write(ctx, s.cfg.sizes.events, int(bytes), func(c *conn) error {
		if _, err := c.exec("SAVEPOINT import"); err != nil {
			return err
		}
		for i := range sessions {
			err := s.importTx(ctx, c, sessions[i], labels[i])
			if err == nil {
				continue
			}
			err = fmt.Errorf("session %s: %w", sessions[i].ID, err)
			var unfit *unfitError
			if !errors.As(err, &unfit) && !refused(err) {
				return err // the transaction is rolled back
			}
			_, back := c.exec("ROLLBACK TO import")
			_, end := c.exec("RELEASE import")
			return errors.Join(err, back, end)
		}
		_, err := c.exec("RELEASE import")
		return err
	})
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	return nil
}

// imports is one session while it is added: its row, and what of its log is in the row's session.
type imports struct {
	c       *conn
	id      string
	sno     int64
	head    store.Head
	bytes   int64
	updated int64
	epoch   int64
}

// importTx adds one session, or what its log has behind the end that it has here.
func (s *Store) importTx(ctx context.Context, c *conn, n store.Imported, labels string) error {
	in, err := s.importRow(c, n, labels)
	if err != nil {
		return err
	}
	if n.Past == nil {
		n.Past = func(func(store.Event, error) bool) {}
	}
	for e, err := range n.Past {
		if err != nil {
			return &unfitError{err}
		}
		if err := in.add(ctx, e); err != nil {
			return err
		}
	}
	for _, e := range n.Events {
		if err := in.add(ctx, e); err != nil {
			return err
		}
	}
	_, err = c.exec("UPDATE session SET head_seq = ?1, head_hash = ?2, updated = ?3, bytes = ?4, epoch = ?5, holder = NULL WHERE sno = ?6",
		in.head.Seq, in.head.Hash[:], in.updated, in.bytes, max(in.epoch, n.Epoch), in.sno)
	c.changed = acknowledged{Session: n.ID, SNo: in.sno, Seq: in.head.Seq}
	return err
}

// importRow makes the session's row, or takes the one that is there.
func (s *Store) importRow(c *conn, n store.Imported, labels string) (*imports, error) {
	if n.Here != nil {
		return s.furtherRow(c, n)
	}
	row := n.NewSession
	row.Events = nil
	if err := createTx(c, row, labels, 0); err != nil {
		return nil, err
	}
	in := &imports{c: c, id: n.ID, sno: c.changed.SNo, updated: n.Created}
	if n.Parent != nil {
		in.head.Hash = n.Parent.Hash
	}
	return in, nil
}

// furtherRow takes the row of a session that goes on.
func (s *Store) furtherRow(c *conn, n store.Imported) (*imports, error) {
	row, err := s.getRow(c, n.ID)
	if err != nil {
		return nil, err
	}
	switch h := row.info.Holder; {
	case h != nil && h.Alive != store.Dead:
		return nil, &store.HeldError{Session: n.ID, Holder: *h}
	case row.info.Head != *n.Here:
		return nil, fmt.Errorf("it ends with event %d %s, not %d %s: %w", row.info.Head.Seq, row.info.Head.Hash, n.Here.Seq, n.Here.Hash, store.ErrConflict)
	}
	if err := updateHeads(c, row.sno, &n.Heads); err != nil {
		return nil, err
	}
	return &imports{c: c, id: n.ID, sno: row.sno, head: *n.Here, bytes: row.info.Bytes, updated: row.info.Updated, epoch: row.info.Epoch}, nil
}

// add adds the next event.
func (in *imports) add(ctx context.Context, e store.Event) error {
	if err := ctx.Err(); err != nil {
		return &unfitError{err}
	}
	if err := follows(in.head, in.id, e); err != nil {
		return &unfitError{err}
	}
	in.head, in.bytes, in.updated = store.Head{Seq: e.Seq, Hash: e.Hash}, in.bytes+int64(len(e.Body)), e.Time
	return insertEvent(in.c, in.sno, &e)
}

// follows checks an event's place in its log.
func follows(head store.Head, id string, e store.Event) error {
	err := store.Verify(head.Hash, id, e)
	if e.Seq != head.Seq+1 {
		err = fmt.Errorf("event %d follows %d", e.Seq, head.Seq)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", store.ErrConflict, err)
	}
	return nil
}
