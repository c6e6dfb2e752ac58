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
			err := importTx(ctx, c, sessions[i], labels[i])
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

// importTx adds one session.
func importTx(ctx context.Context, c *conn, n store.Imported, labels string) error {
	row := n.NewSession
	row.Events = nil
	if err := createTx(c, row, labels, 0); err != nil {
		return err
	}
	sno, head, bytes, updated := c.changed.SNo, store.Head{}, 0, n.Created
	if n.Parent != nil {
		head.Hash = n.Parent.Hash
	}
	add := func(e store.Event) error {
		if err := ctx.Err(); err != nil {
			return &unfitError{err}
		}
		if err := follows(head, n.ID, e); err != nil {
			return &unfitError{err}
		}
		head, bytes, updated = store.Head{Seq: e.Seq, Hash: e.Hash}, bytes+len(e.Body), e.Time
		return insertEvent(c, sno, &e)
	}
	if n.Past == nil {
		n.Past = func(func(store.Event, error) bool) {}
	}
	for e, err := range n.Past {
		if err != nil {
			return &unfitError{err}
		}
		if err := add(e); err != nil {
			return err
		}
	}
	for _, e := range n.Events {
		if err := add(e); err != nil {
			return err
		}
	}
	_, err := c.exec("UPDATE session SET head_seq = ?1, head_hash = ?2, updated = ?3, bytes = ?4, epoch = ?5 WHERE sno = ?6",
		head.Seq, head.Hash[:], updated, bytes, n.Epoch, sno)
	c.changed = acknowledged{Session: n.ID, SNo: sno, Seq: head.Seq}
	return err
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
