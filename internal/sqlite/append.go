package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/perdure/perdure/store"
)

const (
	sqlAdvance = `UPDATE session SET head_seq = ?1, head_hash = ?2, updated = ?3, bytes = bytes + ?4, mark = max(mark, ?5)
		WHERE sno = ?6 AND head_seq = ?7 AND epoch = ?8 AND holder = ?9`
	sqlMark   = `UPDATE session SET mark = max(mark, ?1) WHERE sno = ?2 AND epoch = ?3 AND holder = ?4`
	sqlInsert = `INSERT INTO event (session_no, seq, kind, time, flags, actor_type, actor_id, codec, digest, hash, body)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`
	sqlDrained = `UPDATE inbox SET drained = ?1 WHERE session_no = ?2 AND n <= ?3 AND drained IS NULL`
)

// Append adds a batch to a log; see [store.Log].
func (s *Store) Append(ctx context.Context, l store.Lease, b store.Batch) error {
	if err := s.append(ctx, l, b); err != nil {
		return fmt.Errorf("append to session %s: %w", l.Session, err)
	}
	return nil
}

func (s *Store) append(ctx context.Context, l store.Lease, b store.Batch) error {
	bytes, err := checkBatch(b.Events)
	if err != nil {
		return err
	}
	if err := s.usable(); err != nil {
		return err
	}
	held, err := s.holding(ctx, l)
	if err != nil {
		return err
	}
	err = s.write(ctx, len(b.Events), bytes, func(c *conn) error {
		return s.appendTx(c, held, l, b, bytes)
	})
	if err == nil && b.Release {
		s.forget(l)
	}
	return err
}

// checkBatch refuses what could never be appended, and sums the bytes.
func checkBatch(events []store.Event) (int, error) {
	bytes := 0
	for i, e := range events {
		if e.Seq < 1 || e.Seq != events[0].Seq+int64(i) {
			return 0, fmt.Errorf("event %d of the batch has seq %d: want dense numbers from 1", i, e.Seq)
		}
		bytes += len(e.Body)
	}
	return bytes, nil
}

// appendTx moves the head first: if that changes no row, nothing else of the batch is done.
func (s *Store) appendTx(c *conn, held *lease, l store.Lease, b store.Batch, bytes int) error {
	sno := held.sno
	var rows int64
	var err error
	if n := len(b.Events); n > 0 {
		first, last := b.Events[0], b.Events[n-1]
		rows, err = c.exec(sqlAdvance, last.Seq, last.Hash[:], last.Time, bytes, b.Mark, sno, first.Seq-1, l.Epoch, l.Holder)
	} else {
		rows, err = c.exec(sqlMark, b.Mark, sno, l.Epoch, l.Holder)
	}
	if err != nil {
		return err
	}
	if rows == 0 {
		return refusal(c, l)
	}
	for i := range b.Events {
		if err := insertEvent(c, sno, &b.Events[i]); err != nil {
			return err
		}
	}
	if err := share(c, b.Shared); err != nil {
		return err
	}
	if b.Mark > 0 {
		if _, err := c.exec(sqlDrained, s.cfg.Now().UnixMilli(), sno, b.Mark); err != nil {
			return err
		}
	}
	if n := len(b.Events); n > 0 {
		c.changed = acknowledged{Session: l.Session, SNo: sno, Seq: b.Events[n-1].Seq}
	}
	if err := held.list(c, b); err != nil || !b.Release {
		return err
	}
	_, err = c.exec(sqlRelease, l.Session, l.Epoch, l.Holder)
	return err
}

func insertEvent(c *conn, sno int64, e *store.Event) error {
	_, err := c.exec(sqlInsert, sno, e.Seq, string(e.Kind), e.Time, int64(e.Flags), string(e.Actor.Type), e.Actor.ID,
		int64(e.Codec), e.Digest[:], e.Hash[:], blob(e.Body))
	return err
}

// refusal finds out why the head did not move.
func refusal(c *conn, l store.Lease) error {
	var epoch, head int64
	var holder string
	found, err := c.one("SELECT epoch, holder, head_seq FROM session WHERE id = ?1", []any{l.Session}, func(v []driver.Value) error {
		epoch, holder, head = number(v[0]), text(v[1]), number(v[2])
		return nil
	})
	switch {
	case err != nil:
		return err
	case !found:
		return store.Missing(l.Session)
	case epoch != l.Epoch || holder != l.Holder:
		return fmt.Errorf("epoch %d, now %d: %w", l.Epoch, epoch, store.ErrFenced)
	}
	return fmt.Errorf("its newest event is %d, which the batch does not follow: %w", head, store.ErrConflict)
}
