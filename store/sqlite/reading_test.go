package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/session"
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
func readsAll(t *testing.T, home string, acked []session.Event) {
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

// mounted gives a filesystem of the test's own, and needs root for it.
func mounted(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no filesystem of the test's own: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestReadOnlyHome: a home on a read-only filesystem is read, however its last process ended and whatever of it was
// copied; what writes says that it cannot.
func TestReadOnlyHome(t *testing.T) {
	for _, tt := range []struct {
		name  string
		end   func(*Store) error
		spoil string // a file that the copy does not have
	}{
		{"closed", (*Store).Close, ""},
		{"killed", func(s *Store) error { abandon(s); return nil }, ""},
		{"without the shared index", (*Store).Close, databaseName + "-shm"},
		{"without the log, which was copied", func(s *Store) error {
			_, _, err := s.writer.wal("PRAGMA wal_checkpoint(TRUNCATE)")
			return errors.Join(err, s.Close(), os.RemoveAll(s.path+"-shm"))
		}, databaseName + "-wal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := mounted(t, "32m")
			home := filepath.Join(dir, "home")
			s := mustOpen(t, home, Config{})
			l := newLog(t, s, "a")
			l.must(3)
			if err := tt.end(s); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(home, tt.spoil)); tt.spoil != "" && err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
			readsAll(t, home, l.acked)
			w := mustOpen(t, home, Config{})
			if err := w.Create(t.Context(), store.NewSession{ID: "b"}); !errors.Is(err, unix.EROFS) && (err == nil || !strings.Contains(err.Error(), "read-only")) {
				t.Errorf("create: %v", err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestReadingOnAFullDisk: a home on a disk that is full to the last block is read.
func TestReadingOnAFullDisk(t *testing.T) {
	for _, spoil := range []string{"", databaseName + "-shm"} {
		dir := mounted(t, "8m")
		home := filepath.Join(dir, "home")
		s := mustOpen(t, home, Config{})
		l := newLog(t, s, "a")
		l.must(3)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(home, spoil)); spoil != "" && err != nil {
			t.Fatal(err)
		}
		fill(t, dir)
		readsAll(t, home, l.acked)
		w := mustOpen(t, home, Config{})
		if err := w.Create(t.Context(), store.NewSession{ID: "b"}); !errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrUncertain) {
			t.Errorf("create: %v", err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// fill leaves no block of a filesystem free.
func fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "ballast"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	block := make([]byte, 4096)
	for range 1 << 20 {
		if _, err := f.Write(block); err != nil {
			return
		}
	}
	t.Fatal("the disk is never full")
}
