package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
)

// Check lets SQLite look at its own structures, and whether each index has the rows of its table; see [store.Checker]. It
// reads the whole file.
func (s *Store) Check(ctx context.Context, limit int) (backend string, faults []string, err error) {
	err = s.read(ctx, func(c *conn) error {
		if _, err := c.one("SELECT sqlite_version()", nil, func(v []driver.Value) error {
			backend = "SQLite " + text(v[0])
			return nil
		}); err != nil {
			return err
		}
		return c.queryUntil(ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", limit), nil, func(v []driver.Value) error {
			if said := text(v[0]); said != "ok" && len(faults) < limit {
				faults = append(faults, said)
			}
			return nil
		})
	})
	if err != nil {
		return "", nil, fmt.Errorf("check store %s: %w", s.home, err)
	}
	return backend, faults, nil
}
