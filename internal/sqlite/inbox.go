package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/perdure/perdure/store"
)

// Send adds an item to a session's inbox; see [store.Inbox].
func (s *Store) Send(ctx context.Context, id string, item store.Item) (store.Receipt, error) {
	r := store.Receipt{Session: id, Key: item.Key}
	if item.Key == "" {
		return store.Receipt{}, fmt.Errorf("send to session %s: an item needs a key", id)
	}
	err := s.write(ctx, 1, len(item.Body), func(c *conn) error {
		var err error
		r.N, r.Known, err = sendTx(c, id, item)
		return err
	})
	if err != nil && !errors.Is(err, errNothing) {
		return store.Receipt{}, fmt.Errorf("send to session %s: %w", id, err)
	}
	return r, nil
}

func sendTx(c *conn, id string, item store.Item) (n int64, known bool, err error) {
	var sno, mark int64
	found, err := c.one("SELECT sno, mark FROM session WHERE id = ?1", []any{id}, func(v []driver.Value) error {
		sno, mark = number(v[0]), number(v[1])
		return nil
	})
	if err != nil {
		return 0, false, err
	}
	if !found {
		return 0, false, store.Missing(id)
	}
	var before store.Digest
	known, err = c.one("SELECT n, digest FROM inbox WHERE session_no = ?1 AND key = ?2", []any{sno, item.Key}, func(v []driver.Value) error {
		n, before = number(v[0]), digest(v[1])
		return nil
	})
	switch {
	case err != nil:
		return 0, false, err
	case known && before != item.Digest:
		return 0, false, fmt.Errorf("key %q: %w", item.Key, store.ErrKeyReused)
	case known:
		return n, true, errNothing
	}
	// Items up to the mark may have been pruned; their numbers never come again.
	if _, err := c.one("SELECT max(ifnull(max(n), 0), ?2) + 1 FROM inbox WHERE session_no = ?1", []any{sno, mark}, func(v []driver.Value) error {
		n = number(v[0])
		return nil
	}); err != nil {
		return 0, false, err
	}
	_, err = c.exec(`INSERT INTO inbox (session_no, n, key, kind, actor_type, actor_id, time, body, digest)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`,
		sno, n, item.Key, string(item.Kind), string(item.Actor.Type), item.Actor.ID, item.Time, blob(item.Body), item.Digest[:])
	c.changed = acknowledged{Session: id, SNo: sno, N: n}
	return n, false, err
}

// Pending returns items after a position; see [store.Inbox].
func (s *Store) Pending(ctx context.Context, id string, after int64, limit int) ([]store.Item, error) {
	if limit <= 0 || limit > pageRows {
		limit = pageRows
	}
	var items []store.Item
	err := s.read(ctx, func(c *conn) error {
		var sno int64
		found, err := c.one("SELECT sno FROM session WHERE id = ?1", []any{id}, func(v []driver.Value) error {
			sno = number(v[0])
			return nil
		})
		if err != nil {
			return err
		}
		if !found {
			return store.Missing(id)
		}
		return c.query(`SELECT n, key, kind, actor_type, actor_id, time, body, digest FROM inbox
			WHERE session_no = ?1 AND n > ?2 ORDER BY n LIMIT ?3`, []any{sno, after, limit}, func(v []driver.Value) error {
			items = append(items, store.Item{
				N: number(v[0]), Key: text(v[1]), Kind: store.Kind(text(v[2])),
				Actor: store.Actor{Type: store.ActorType(text(v[3])), ID: text(v[4])},
				Time:  number(v[5]), Body: bytesOf(v[6]), Digest: digest(v[7]),
			})
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("inbox of session %s: %w", id, err)
	}
	return items, nil
}

// Prune removes items that were drained before a time; see [store.Inbox]. It also goes on with what an interrupted
// Delete left.
func (s *Store) Prune(ctx context.Context, before int64) (int, error) {
	total := 0
	for more := true; more; {
		err := s.write(ctx, sweepRows, 0, func(c *conn) error {
			rows, err := c.exec(`DELETE FROM inbox WHERE (session_no, n) IN
				(SELECT session_no, n FROM inbox WHERE drained IS NOT NULL AND drained < ?1 LIMIT ?2)`, before, sweepRows)
			if err != nil {
				return err
			}
			more = rows > 0
			total += int(rows)
			if !more {
				return errNothing
			}
			return nil
		})
		if err != nil && !errors.Is(err, errNothing) {
			return total, fmt.Errorf("prune inboxes: %w", err)
		}
	}
	if err := s.sweep(ctx); err != nil {
		return total, fmt.Errorf("prune: %w", err)
	}
	return total, nil
}
