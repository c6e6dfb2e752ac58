package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Backup writes a copy of the database into a directory that is there and has none; see [store.Archiver]. It is one
// state of all sessions, and stops nobody from writing meanwhile.
func (s *Store) Backup(ctx context.Context, dir string) error {
	to := filepath.Join(dir, databaseName)
	if s.cfg.engine.exists(to) {
		return fmt.Errorf("back up store %s: %s is there already", s.home, to)
	}
	err := s.read(ctx, func(c *conn) error {
		if c.empty {
			return errors.New("there is nothing to back up")
		}
		// The connection cannot write to the home, but has to be allowed to write at all.
		return errors.Join(c.script("PRAGMA query_only = OFF"), c.script("VACUUM INTO '"+strings.ReplaceAll(to, "'", "''")+"'"),
			c.script("PRAGMA query_only = ON"))
	})
	if err == nil {
		err = errors.Join(syncFile(to), s.cfg.syncDir(dir))
	}
	if err != nil {
		return fmt.Errorf("back up store %s: %w", s.home, s.cfg.engine.explain(err))
	}
	return nil
}
