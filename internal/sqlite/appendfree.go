package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/perdure/perdure/store"
)

const sqlAdvanceFree = `UPDATE session SET head_seq = ?1, head_hash = ?2, updated = ?3, bytes = bytes + ?4
	WHERE sno = ?5 AND head_seq = ?6 AND holder IS NULL`

// AppendFree adds a batch to the log of a session that nobody holds; see [store.Log].
func (s *Store) AppendFree(ctx context.Context, id string, b store.Batch) error {
	bytes, err := checkBatch(b.Events)
	if err == nil && (len(b.Events) == 0 || b.Mark != 0) {
		err = fmt.Errorf("%d events and the mark %d: want events, and no mark", len(b.Events), b.Mark)
	}
	if err == nil {
		err = s.write(ctx, len(b.Events), bytes, func(c *conn) error { return s.appendFreeTx(c, id, b, bytes) })
	}
	if err != nil {
		return fmt.Errorf("append to session %s: %w", id, err)
	}
	return nil
}

func (s *Store) appendFreeTx(c *conn, id string, b store.Batch, bytes int) error {
	var sno, head int64
	holder := ""
	found, err := c.one("SELECT sno, head_seq, holder FROM session WHERE id = ?1", []any{id}, func(v []driver.Value) error {
		sno, head, holder = number(v[0]), number(v[1]), text(v[2])
		return nil
	})
	switch {
	case err != nil:
		return err
	case !found:
		return store.Missing(id)
	case holder != "":
		return &store.HeldError{Session: id, Holder: s.holders.find(holder)}
	case b.Events[0].Seq != head+1:
		return fmt.Errorf("event %d does not follow %d: %w", b.Events[0].Seq, head, store.ErrConflict)
	}
	if b.Item != nil {
		if err := s.drainedItem(c, sno, b.Item); err != nil {
			return err
		}
	}
	last := b.Events[len(b.Events)-1]
	rows, err := c.exec(sqlAdvanceFree, last.Seq, last.Hash[:], last.Time, bytes, sno, head)
	if err != nil {
		return err
	}
	if rows != 1 {
		return store.ErrConflict
	}
	for i := range b.Events {
		if err := insertEvent(c, sno, &b.Events[i]); err != nil {
			return err
		}
	}
	if err := share(c, b.Shared); err != nil {
		return err
	}
	c.changed = acknowledged{Session: id, SNo: sno, Seq: last.Seq}
	return (&lease{sno: sno}).list(c, b)
}

// drainedItem adds an item that is drained already.
func (s *Store) drainedItem(c *conn, sno int64, item *store.Item) error {
	var before store.Digest
	known, err := c.one("SELECT digest FROM inbox WHERE session_no = ?1 AND key = ?2", []any{sno, item.Key}, func(v []driver.Value) error {
		before = digest(v[0])
		return nil
	})
	switch {
	case err != nil:
		return err
	case known && before != item.Digest:
		return fmt.Errorf("key %q: %w", item.Key, store.ErrKeyReused)
	case known:
		return fmt.Errorf("key %q: %w", item.Key, store.ErrKnown)
	}
	// Numbers below zero come first, and never meet those of items that wait to be drained in their order.
	var n int64
	if _, err := c.one("SELECT min(ifnull(min(n), 0), 0) - 1 FROM inbox WHERE session_no = ?1", []any{sno}, func(v []driver.Value) error {
		n = number(v[0])
		return nil
	}); err != nil {
		return err
	}
	_, err = c.exec(`INSERT INTO inbox (session_no, n, key, kind, actor_type, actor_id, time, body, digest, drained)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL, ?8, ?9)`,
		sno, n, item.Key, string(item.Kind), string(item.Actor.Type), item.Actor.ID, item.Time, item.Digest[:], s.cfg.Now().UnixMilli())
	return err
}
