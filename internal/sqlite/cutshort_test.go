package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/store"
)

// TestDatabaseCutShort: what is left of a database that was cut is read; of what is not there an error tells; nothing is
// written.
func TestDatabaseCutShort(t *testing.T) {
	home := t.TempDir()
	s := mustOpen(t, home, Config{})
	first, last := newLog(t, s, "first"), newLog(t, s, "last")
	first.must(3)
	last.must(600) // which takes more pages than are cut
	_, _, err := s.writer.wal("PRAGMA wal_checkpoint(TRUNCATE)")
	abandon(s)
	path := filepath.Join(home, databaseName)
	info, statErr := os.Stat(path)
	if err := errors.Join(err, statErr); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-8*4096); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, home, Config{})
	defer func() { _ = s.Close() }()
	if got, err := readAll(s, "first"); err != nil || !same(got, first.acked) {
		t.Errorf("the first session: %d events, %v", len(got), err)
	}
	got, err := readAll(s, "last")
	var corrupt *store.CorruptError
	if !errors.As(err, &corrupt) || !errors.Is(err, store.ErrDamaged) || len(got) > 0 && !same(got, last.acked[:len(got)]) {
		t.Errorf("the last session: %d events, %v", len(got), err)
	}
	if err := s.Create(t.Context(), store.NewSession{ID: "b"}); err == nil {
		t.Error("it is written")
	}
}

// TestLostDatabase: a database that is gone, or begun anew, is told by the mark, also when there are sessions again.
func TestLostDatabase(t *testing.T) {
	home := t.TempDir()
	s := mustOpen(t, home, Config{})
	newLog(t, s, "a").must(1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(home, databaseName+end)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	before := lostIn(t, home, Config{})
	s = mustOpen(t, home, Config{})
	newLog(t, s, "b").must(1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	after := lostIn(t, home, Config{})
	if len(before) != 1 || len(after) != 1 || before[0] != after[0] {
		t.Errorf("told %q, and then %q", before, after)
	}
}

// TestCopyIsRemoved: the copy of a home that is read aside is made once, and goes with its store.
func TestCopyIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), databaseName)
	if err := errors.Join(os.WriteFile(path, []byte("a"), 0o600), os.WriteFile(path+"-wal", []byte("b"), 0o600)); err != nil {
		t.Fatal(err)
	}
	var c copyOf
	if err := c.remove(); err != nil {
		t.Error(err)
	}
	first, err := c.of(path)
	again, errAgain := c.of(path)
	if b, readErr := os.ReadFile(first + "-wal"); errors.Join(err, errAgain, readErr) != nil || first != again || string(b) != "b" {
		t.Errorf("%s, then %s, with %q: %v", first, again, b, errors.Join(err, errAgain, readErr))
	}
	if err := c.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(first)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the copy stays: %v", err)
	}
}
