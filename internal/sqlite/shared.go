package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/perdure/perdure/store"
)

// Shared returns the values of a scope; see [store.Directory].
func (s *Store) Shared(ctx context.Context, scope string) (map[string][]byte, error) {
	values := map[string][]byte{}
	err := s.read(ctx, func(c *conn) error {
		there, err := c.one("SELECT 1 FROM sqlite_schema WHERE name = 'shared'", nil, nil)
		if err != nil || !there { // of an older version, and not written since
			return err
		}
		return c.query("SELECT key, value FROM shared WHERE scope = ?1", []any{scope}, func(v []driver.Value) error {
			values[text(v[0])] = bytesOf(v[1])
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("shared values of %q: %w", scope, err)
	}
	return values, nil
}

// share writes shared values. What would make a scope too large changes nothing.
func share(c *conn, values []store.Shared) error {
	touched := map[string]bool{}
	for _, v := range values {
		touched[v.Scope] = true
		var err error
		if v.Value == nil {
			_, err = c.exec("DELETE FROM shared WHERE scope = ?1 AND key = ?2", v.Scope, v.Key)
		} else {
			_, err = c.exec("INSERT INTO shared (scope, key, value) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET value = excluded.value",
				v.Scope, v.Key, v.Value)
		}
		if err != nil {
			return err
		}
	}
	for scope := range touched {
		size := int64(0)
		if _, err := c.one("SELECT ifnull(sum(length(CAST(key AS BLOB)) + length(value)), 0) FROM shared WHERE scope = ?1", []any{scope}, func(v []driver.Value) error {
			size = number(v[0])
			return nil
		}); err != nil {
			return err
		}
		if size > store.MaxShared {
			return fmt.Errorf("scope %q: %w: %d bytes, at most %d", scope, store.ErrSharedFull, size, store.MaxShared)
		}
	}
	return nil
}
