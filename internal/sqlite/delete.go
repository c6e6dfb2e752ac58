package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/perdure/perdure/store"
)

// maxChildren bounds how many children a refusal names.
const maxChildren = 100

// Delete removes a session; see [store.Directory]. Its row goes at once and everything else after it, a bounded
// number of rows at a time; what a crash leaves is removed by the next Delete or Prune of any process.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := s.writeLow(ctx, func(c *conn) error { return s.deleteTx(c, id) })
	if err == nil {
		s.mu.Lock()
		delete(s.held, id)
		s.mu.Unlock()
		err = s.sweep(ctx)
	}
	if err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return nil
}

func (s *Store) deleteTx(c *conn, id string) error {
	row, err := s.getRow(c, id)
	if err != nil {
		return err
	}
	if h := row.info.Holder; h != nil && h.Alive != store.Dead {
		return &store.HeldError{Session: id, Holder: *h}
	}
	var children []string
	if err := c.query("SELECT id FROM session WHERE parent_no = ?1 ORDER BY id LIMIT ?2", []any{row.sno, maxChildren}, func(v []driver.Value) error {
		children = append(children, text(v[0]))
		return nil
	}); err != nil {
		return err
	}
	if len(children) > 0 {
		return &store.ChildrenError{Session: id, Children: children}
	}
	for _, q := range []string{
		"DELETE FROM session WHERE sno = ?1", "DELETE FROM listing WHERE sno = ?1", "DELETE FROM label WHERE sno = ?1",
		"INSERT INTO garbage (session_no) VALUES (?1)",
	} {
		if _, err := c.exec(q, row.sno); err != nil {
			return err
		}
	}
	return nil
}

// Rows that one transaction of a sweep removes at most, and where the disk is nearly full.
const (
	sweepRows = 500
	lowRows   = 8
)

// sweep removes the rows of deleted sessions, and overwrites what they held. On a disk that is nearly full the log
// starts over after each step, so that it needs no more room than one step does.
func (s *Store) sweep(ctx context.Context) error {
	for more := true; more; {
		rows := sweepRows
		if s.low() {
			rows = lowRows
			if s.begun.Load() {
				if err := s.writer.alone(ctx, truncate); err != nil && !errors.Is(err, store.ErrFull) {
					return err
				}
			}
		}
		err := s.writeLow(ctx, func(c *conn) error {
			var sno int64
			found, err := c.one("SELECT session_no FROM garbage LIMIT 1", nil, func(v []driver.Value) error {
				sno = number(v[0])
				return nil
			})
			if err != nil {
				return err
			}
			if more = found; !found {
				return errNothing
			}
			return sweepTx(c, sno, rows)
		})
		if err != nil && !errors.Is(err, errNothing) {
			return err
		}
	}
	return nil
}

// low reports whether the disk is nearly full.
func (s *Store) low() bool {
	free := s.cfg.free(s.home)
	return free >= 0 && free < reserve
}

// sweepTx removes one bounded part of a deleted session. Pages that become free are overwritten too: that costs a write
// of each, which the rest of the store does without.
func sweepTx(c *conn, sno int64, most int) (err error) {
	if err := c.script("PRAGMA secure_delete = ON"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.script("PRAGMA secure_delete = FAST")) }()
	for _, q := range []string{
		"DELETE FROM event WHERE gid IN (SELECT gid FROM event WHERE session_no = ?1 ORDER BY seq LIMIT ?2)",
		"DELETE FROM inbox WHERE session_no = ?1 AND n IN (SELECT n FROM inbox WHERE session_no = ?1 ORDER BY n LIMIT ?2)",
		"DELETE FROM snapshot WHERE gid IN (SELECT gid FROM snapshot WHERE session_no = ?1 LIMIT ?2)",
		"DELETE FROM reader WHERE (session_no, task, reader) IN (SELECT session_no, task, reader FROM reader WHERE session_no = ?1 LIMIT ?2)",
	} {
		if rows, err := c.exec(q, sno, most); err != nil || rows > 0 {
			return err // One bounded step; the loop comes back.
		}
	}
	_, err = c.exec("DELETE FROM garbage WHERE session_no = ?1", sno)
	return err
}
