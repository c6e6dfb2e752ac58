package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/store"
)

// What somebody puts in the place of a file that the home keeps beside its database, a link to a file elsewhere, a
// second name of another lock, a pipe, is neither changed nor followed nor waited for: the home is refused with the
// name of what is wrong, or works without.
func TestPlantedLocksAndMarks(t *testing.T) {
	for _, name := range []string{"turn.lock", "write.lock", doorName, markName, lostName, databaseName, databaseName + "-wal", databaseName + "-shm"} {
		for kind, plant := range map[string]func(at, victim string) error{
			"link": func(at, victim string) error { return os.Symlink(victim, at) },
			"pipe": func(at, _ string) error { return unix.Mkfifo(at, 0o600) },
		} {
			if kind == "link" && strings.HasPrefix(name, databaseName) {
				continue // a home's owner may keep the database elsewhere
			}
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				home, victim := filepath.Join(t.TempDir(), "home"), filepath.Join(t.TempDir(), "mine")
				s := mustOpen(t, home, Config{})
				l := newLog(t, s, "a")
				l.must(3)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				at := filepath.Join(home, name)
				if err := os.WriteFile(victim, []byte("mine\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.RemoveAll(at); err != nil {
					t.Fatal(err)
				}
				if err := plant(at, victim); err != nil {
					t.Fatal(err)
				}
				done := make(chan error, 1)
				go func() {
					done <- useAll(t, home)
				}()
				select {
				case err := <-done:
					if err != nil && !strings.Contains(err.Error(), name) {
						t.Errorf("it does not say what is wrong: %v", err)
					}
				case <-time.After(30 * time.Second):
					t.Error("it hangs")
				}
				b, err := os.ReadFile(victim)
				info, _ := os.Stat(victim)
				if err != nil || string(b) != "mine\n" || info.Mode().Perm() != 0o644 {
					t.Errorf("another's file is now %q, %v, %v", b, info.Mode(), err)
				}
			})
		}
	}
}

// useAll reads and writes a home as far as it lets one.
func useAll(t *testing.T, home string) error {
	s, err := Open(t.Context(), home, Config{})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	if _, err := s.Get(t.Context(), "a"); err != nil {
		return err
	}
	if err := s.recordLoss("something"); err != nil {
		return err
	}
	return s.Create(t.Context(), store.NewSession{ID: "b"})
}

// A pipe among the records of holders keeps nobody waiting, neither whoever opens the home nor who asks for that
// holder; and a link there is no record.
func TestPlantedHolders(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	s := mustOpen(t, home, Config{})
	newLog(t, s, "a").must(1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(t.TempDir(), "record")
	if err := errors.Join(
		unix.Mkfifo(filepath.Join(home, "holders", "pipe"), 0o600),
		os.WriteFile(elsewhere, []byte(`{"pid":1}`), 0o600),
		os.Symlink(elsewhere, filepath.Join(home, "holders", "link")),
	); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- useAll(t, home) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it hangs")
	}
	h := &holders{dir: filepath.Join(home, "holders"), identity: s.cfg.identity}
	for _, id := range []string{"pipe", "link"} {
		found := make(chan store.Holder, 1)
		go func() { found <- h.find(id) }()
		select {
		case got := <-found:
			if got.PID != 0 || got.Alive == store.Alive {
				t.Errorf("%s: %+v", id, got)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: it hangs", id)
		}
	}
}
