package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/test/needs"
	"github.com/perdure/perdure/store"
)

// mounted gives a filesystem of the test's own, and needs root for it.
func mounted(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		needs.Not(t, "no filesystem of the test's own: %v", err)
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

// TestDeleteOnAFullDisk: a disk that is full to the last block, but for what the home has kept back, lets sessions be
// deleted, and what other processes write is refused.
func TestDeleteOnAFullDisk(t *testing.T) {
	dir := mounted(t, "24m")
	home := filepath.Join(dir, "home")
	s := mustOpen(t, home, Config{})
	kept := newLog(t, s, "kept")
	kept.must(1)
	full(t, s, "gone", kept)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fill(t, dir)
	if err := os.Remove(filepath.Join(home, "perdure.spare")); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, home, Config{})
	defer func() { _ = s.Close() }()
	if err := errors.Join(s.Delete(t.Context(), "gone"), s.Scrub(t.Context())); err != nil {
		t.Fatal(err)
	}
	if files := holding(t, home, telling); len(files) > 0 {
		t.Errorf("the text is still in %v", files)
	}
	if err := s.Create(t.Context(), store.NewSession{ID: "new"}); !errors.Is(err, store.ErrFull) {
		t.Errorf("create: %v", err)
	}
	if got, err := readAll(s, "kept"); err != nil || !same(got, kept.acked) {
		t.Errorf("the other session: %d events, %v", len(got), err)
	}
}
