package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
)

// listing is what a directory tree looks like: names, modes, sizes and times of change.
func listing(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !strings.HasSuffix(path, "-shm") { // Memory that SQLite shares between processes.
			all = append(all, fmt.Sprint(path, " ", info.Mode(), " ", info.Size(), " ", info.ModTime().UnixNano()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// readsAll opens a home, demands the log and that a write fails, and closes.
func readsAll(t *testing.T, home string, acked []store.Event) {
	t.Helper()
	s := mustOpen(t, home, Config{})
	if got, err := readAll(s, "a"); err != nil || !same(got, acked) {
		t.Errorf("%d events of %d, %v", len(got), len(acked), err)
	}
	if page, err := s.List(t.Context(), store.Query{}); err != nil || len(page.Sessions) != 1 {
		t.Errorf("list: %d sessions, %v", len(page.Sessions), err)
	}
	if _, faults, err := s.Check(t.Context(), 10); err != nil || len(faults) > 0 {
		t.Errorf("check: %q, %v", faults, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestReadingChangesNothing: who only reads a home leaves no trace in it, whatever was there before.
func TestReadingChangesNothing(t *testing.T) {
	home := t.TempDir()
	s := mustOpen(t, home, Config{})
	l := newLog(t, s, "a")
	l.must(3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(home, 0o755); err != nil {
		t.Fatal(err)
	}
	before := listing(t, home)
	readsAll(t, home, l.acked)
	if after := listing(t, home); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("before:\n%s\nafter:\n%s", strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
}

// TestReadingNoHome: a home that is not there is empty, and is not there afterwards; the first write makes it, and then
// it is read.
func TestReadingNoHome(t *testing.T) {
	home := filepath.Join(t.TempDir(), "none")
	s := mustOpen(t, home, Config{})
	if page, err := s.List(t.Context(), store.Query{}); err != nil || len(page.Sessions) != 0 {
		t.Errorf("%v, %v", page, err)
	}
	if _, err := s.Get(t.Context(), "a"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
	if _, err := os.Stat(home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a reader made the home: %v", err)
	}
	other := mustOpen(t, home, Config{})
	newLog(t, other, "a").must(2)
	if got, err := readAll(s, "a"); err != nil || len(got) != 2 {
		t.Errorf("%d events, %v", len(got), err)
	}
	for _, s := range []*Store{s, other} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
