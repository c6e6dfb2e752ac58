package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
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

// Goal: of a session whose listing is damaged or gone only the listing is: it is found, listed with a word about it, and
// its log is read.
func TestDamagedListing(t *testing.T) {
	for change, want := range map[string]string{
		"DELETE FROM listing WHERE sno = 1":                   "what is listed of it is gone",
		"UPDATE listing SET labels = '{' WHERE sno = 1":       "what is listed of it is damaged",
		"UPDATE listing SET title = x'ff00' WHERE sno = 1":    "what is listed of it is damaged",
		"UPDATE listing SET cwd = 5 || x'ff' WHERE sno = 1":   "what is listed of it is damaged",
		"UPDATE listing SET title = 'another' WHERE sno = 99": "",
	} {
		s := mustOpen(t, t.TempDir(), Config{})
		a, b := newLog(t, s, "a"), newLog(t, s, "b")
		a.must(3)
		b.must(3)
		if err := s.writer.conn.script(change); err != nil {
			t.Fatal(err)
		}
		info, err := s.Get(t.Context(), "a")
		if err != nil || info.Damaged != want || info.Head.Seq != 3 {
			t.Errorf("%s: %+v, %v", change, info, err)
		}
		page, err := s.List(t.Context(), store.Query{})
		if err != nil || len(page.Sessions) != 2 {
			t.Fatalf("%s: %+v, %v", change, page, err)
		}
		for _, got := range page.Sessions {
			if got.ID == "a" && got.Damaged != want || got.ID == "b" && got.Damaged != "" {
				t.Errorf("%s: %+v", change, got)
			}
		}
		n := 0
		for _, err := range s.Read(t.Context(), "a", 1, 0) {
			if err != nil {
				t.Error(err)
			}
			n++
		}
		if n != 3 {
			t.Errorf("%s: %d events", change, n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
