package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/perdure/perdure/store"
)

// keptSnapshots is how many cached states a session has: the newest may be one that was cut off by a crash of the
// program that computed it, the one before is the way back.
const keptSnapshots = 2

// SaveSnapshot stores a cached state; see [store.Log].
func (s *Store) SaveSnapshot(ctx context.Context, id string, n store.Snapshot) error {
	sum := store.Sum(n.State)
	state := n.State
	if state == nil {
		state = []byte{}
	}
	err := s.write(ctx, 1, len(state), func(c *conn) error {
		sno, err := sessionNo(c, id)
		if err != nil {
			return err
		}
		if _, err := c.exec(`INSERT OR REPLACE INTO snapshot (session_no, seq, fold_version, hash, digest, state)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6)`, sno, n.Seq, n.FoldVersion, n.Hash[:], sum[:], state); err != nil {
			return err
		}
		_, err = c.exec(`DELETE FROM snapshot WHERE session_no = ?1 AND gid NOT IN
			(SELECT gid FROM snapshot WHERE session_no = ?1 ORDER BY gid DESC LIMIT ?2)`, sno, keptSnapshots)
		return err
	})
	if err != nil {
		return fmt.Errorf("save snapshot of session %s: %w", id, err)
	}
	return nil
}

// LoadSnapshot returns the newest usable snapshot; see [store.Log].
func (s *Store) LoadSnapshot(ctx context.Context, id string, foldVersion int, atMost int64) (*store.Snapshot, error) {
	if atMost == 0 {
		atMost = 1<<63 - 1
	}
	var found *store.Snapshot
	err := s.read(ctx, func(c *conn) error {
		sno, err := sessionNo(c, id)
		if err != nil {
			return err
		}
		return c.query(`SELECT seq, hash, digest, state FROM snapshot WHERE session_no = ?1 AND fold_version = ?2 AND seq <= ?3
			ORDER BY seq DESC`, []any{sno, foldVersion, atMost}, func(v []driver.Value) error {
			state := bytesOf(v[3])
			if found == nil && store.Sum(state) == digest(v[2]) {
				found = &store.Snapshot{Seq: number(v[0]), Hash: digest(v[1]), FoldVersion: foldVersion, State: state}
			}
			return nil
		})
	})
	if p := s.cfg.engine.primary(err); p == codeCorrupt {
		return nil, nil // A cache that cannot be read is a cache that is not there.
	}
	if err != nil {
		return nil, fmt.Errorf("load snapshot of session %s: %w", id, err)
	}
	return found, nil
}

// SetReader stores a reader's output position; see [store.Log].
func (s *Store) SetReader(ctx context.Context, id, task, reader string, position int64) error {
	err := s.write(ctx, 1, 0, func(c *conn) error {
		sno, err := sessionNo(c, id)
		if err != nil {
			return err
		}
		_, err = c.exec(`INSERT INTO reader (session_no, task, reader, position) VALUES (?1, ?2, ?3, ?4)
			ON CONFLICT DO UPDATE SET position = excluded.position`, sno, task, reader, position)
		return err
	})
	if err != nil {
		return fmt.Errorf("set reader of session %s: %w", id, err)
	}
	return nil
}

// Reader returns a reader's output position; see [store.Log].
func (s *Store) Reader(ctx context.Context, id, task, reader string) (int64, error) {
	var position int64
	err := s.read(ctx, func(c *conn) error {
		sno, err := sessionNo(c, id)
		if err != nil {
			return err
		}
		_, err = c.one("SELECT position FROM reader WHERE session_no = ?1 AND task = ?2 AND reader = ?3", []any{sno, task, reader},
			func(v []driver.Value) error {
				position = number(v[0])
				return nil
			})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reader of session %s: %w", id, err)
	}
	return position, nil
}

// sessionNo returns a session's number. Errors: ErrNotFound.
func sessionNo(c *conn, id string) (int64, error) {
	var sno int64
	found, err := c.one("SELECT sno FROM session WHERE id = ?1", []any{id}, func(v []driver.Value) error {
		sno = number(v[0])
		return nil
	})
	if err == nil && !found {
		err = store.Missing(id)
	}
	return sno, err
}
