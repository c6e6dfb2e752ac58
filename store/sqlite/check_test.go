package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: a sound home has no faults, a page of another's content is named, and who does not want to wait is let go.
func TestCheck(t *testing.T) {
	home := t.TempDir()
	s := mustOpen(t, home, Config{})
	l := newLog(t, s, "a")
	l.must(300)
	backend, faults, err := s.Check(t.Context(), 10)
	if err != nil || len(faults) > 0 || !strings.HasPrefix(backend, "SQLite 3.") {
		t.Errorf("%q, %q, %v", backend, faults, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := s.Check(ended, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
	if _, _, err := s.writer.wal("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, databaseName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(b[len(b)-4096:], make([]byte, 64))
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, home, Config{})
	defer func() { _ = s.Close() }()
	if _, faults, err := s.Check(t.Context(), 3); err == nil && len(faults) == 0 || len(faults) > 3 {
		t.Errorf("after the damage: %q, %v", faults, err)
	}
}
