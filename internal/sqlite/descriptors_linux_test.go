package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/perdure/perdure/store"
)

// opened counts the descriptors of this process.
func opened(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// TestDescriptorsAreClosed: whatever is done with a home, and whatever is wrong with it, no file stays open when its store
// is closed.
func TestDescriptorsAreClosed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close what was forgotten
	home, ctx := t.TempDir(), t.Context()
	s := mustOpen(t, home, Config{})
	newLog(t, s, "a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"a life": func() error {
			s := mustOpen(t, home, Config{})
			l := newLog(t, s, "a")
			l.must(1)
			other := mustOpen(t, home, Config{})
			newLog(t, other, "b")
			_, list := s.List(ctx, store.Query{})
			_, lost := s.Lost(ctx)
			return errors.Join(list, lost, s.recordLoss("something"), other.Close(), s.Scrub(ctx), s.Close())
		},
		"a holder that died": func() error {
			dead := mustOpen(t, home, Config{})
			newLog(t, dead, "a")
			abandon(dead)
			if err := os.WriteFile(filepath.Join(home, "holders", "half.tmp"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			s := mustOpen(t, home, Config{})
			newLog(t, s, "a")
			return s.Close()
		},
		"a backup": func() error {
			s := mustOpen(t, home, Config{})
			return errors.Join(s.Backup(ctx, t.TempDir()), s.Close())
		},
		"no home": func() error {
			s := mustOpen(t, filepath.Join(home, "none"), Config{})
			return s.Close()
		},
		"a directory in the place of a lock": func() error {
			bad := t.TempDir()
			err := os.Mkdir(filepath.Join(bad, doorName), 0o700)
			s := mustOpen(t, bad, Config{})
			if s.Create(ctx, store.NewSession{ID: "a"}) == nil {
				t.Error("it is written")
			}
			return errors.Join(err, s.Close())
		},
		"a directory in the place of the mark": func() error {
			bad := t.TempDir()
			err := os.Mkdir(filepath.Join(bad, markName), 0o700)
			s := mustOpen(t, bad, Config{})
			_, lost := s.Lost(ctx)
			if lost == nil {
				t.Error("it is read")
			}
			return errors.Join(err, s.Close())
		},
		"junk": func() error {
			bad := t.TempDir()
			err := os.WriteFile(filepath.Join(bad, databaseName), make([]byte, 8192), 0o600)
			if s, err := Open(ctx, bad, Config{}); err == nil {
				t.Error("it opens")
				_ = s.Close()
			}
			return err
		},
		"a look at the file system": func() error {
			networkFS(home)
			fuse(home)
			return nil
		},
	} {
		grown := 0
		for range 2 { // the first time may open what the process keeps
			before := opened(t)
			for range 3 {
				if err := do(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			grown = opened(t) - before
		}
		if grown != 0 {
			t.Errorf("%s, three times: %d more files are open", name, grown)
		}
	}
}
