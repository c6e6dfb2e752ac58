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

// TestNetworkHome: a home whose filesystem is remote is refused with its name, unless a test insists.
func TestNetworkHome(t *testing.T) {
	cfg := Config{fsname: func(string) (string, bool) { return "nfs", true }}
	_, err := Open(t.Context(), t.TempDir(), cfg)
	if !errors.Is(err, store.ErrNetworkFS) || !strings.Contains(err.Error(), "nfs") {
		t.Errorf("open: %v", err)
	}
	cfg.AllowNetworkFS = true
	if err := mustOpen(t, t.TempDir(), cfg).Close(); err != nil {
		t.Error(err)
	}
	if name, remote := networkFS(t.TempDir()); remote {
		t.Errorf("the test's own directory is on %s", name)
	}
}

// TestForeignDatabases: a newer schema and another program's database are refused and left as they are; what is no
// database at all says so.
func TestForeignDatabases(t *testing.T) {
	for _, tt := range []struct {
		name, sql string
		want      error
		says      string
	}{
		{"newer", "PRAGMA user_version = 99", store.ErrNewer, "99"},
		{"another program", "PRAGMA application_id = 1", nil, "another program"},
	} {
		home := t.TempDir()
		s := mustOpen(t, home, Config{})
		newLog(t, s, "a")
		if err := s.writer.conn.script(tt.sql); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), home, Config{})
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, databaseName), []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), home, Config{}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("garbage: %v", err)
	}
}

// TestAfterLife: what becomes of a holder whose lock is free, by where and when it lived.
func TestAfterLife(t *testing.T) {
	for _, tt := range []struct {
		name          string
		machine, boot string
		want          store.Life
	}{
		{"same boot", "m1", "b1", store.Dead},
		{"same boot in another container", "m2", "b1", store.Dead},
		{"rebooted", "m1", "b2", store.Dead},
		{"another machine", "m2", "b2", store.Unknown},
		{"nameless machine, another boot", "", "b2", store.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			a := mustOpen(t, home, Config{identity: &identity{host: "there", machine: tt.machine, boot: tt.boot, pid: 7}})
			newLog(t, a, "a").must(1)
			s := mustOpen(t, home, Config{identity: &identity{host: "here", machine: "m1", boot: "b1"}})
			defer func() { _ = s.Close() }()
			if h := holderOf(t, s, "a"); h.Alive != store.Alive || h.Host != "there" || h.PID != 7 {
				t.Errorf("while it runs: %+v", h)
			}
			abandon(a)
			if h := holderOf(t, s, "a"); h.Alive != tt.want || h.Host != "there" {
				t.Errorf("after its end: %+v, want %s", h, tt.want)
			}
			_, err := s.Acquire(t.Context(), "a")
			var held *store.HeldError
			switch {
			case tt.want == store.Dead && err != nil:
				t.Errorf("acquire: %v", err)
			case tt.want == store.Unknown && (!errors.As(err, &held) || held.Holder.Alive != store.Unknown):
				t.Errorf("acquire: %v", err)
			}
			if tt.want == store.Unknown {
				if err := s.Delete(t.Context(), "a"); !errors.Is(err, store.ErrHeld) {
					t.Errorf("delete: %v", err)
				}
				if _, err := s.Takeover(t.Context(), "a"); err != nil {
					t.Errorf("takeover: %v", err)
				}
			}
		})
	}
}

func holderOf(t *testing.T, s *Store, id string) store.Holder {
	t.Helper()
	info, err := s.Get(t.Context(), id)
	if err != nil || info.Holder == nil {
		t.Fatalf("holder %+v, %v", info.Holder, err)
	}
	return *info.Holder
}

// TestHolderFiles: files of the dead go when no session names them any more, those of the living stay.
func TestHolderFiles(t *testing.T) {
	home := t.TempDir()
	names := func() int {
		entries, err := os.ReadDir(filepath.Join(home, "holders"))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	idle, holding := mustOpen(t, home, Config{}), mustOpen(t, home, Config{})
	newLog(t, idle, "idle")
	newLog(t, holding, "a")
	if err := idle.releaseAll(); err != nil {
		t.Fatal(err)
	}
	abandon(idle)
	abandon(holding)
	if err := os.WriteFile(filepath.Join(home, "holders", "half.tmp"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	alive := mustOpen(t, home, Config{})
	newLog(t, alive, "c")
	if n := names(); n != 2 { // The one that "a" names, and the living one.
		t.Errorf("%d holder files", n)
	}
	if _, err := alive.Acquire(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	other := mustOpen(t, home, Config{})
	newLog(t, other, "b")
	if n := names(); n != 2 {
		t.Errorf("%d holder files", n)
	}
	for _, s := range []*Store{alive, other} {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := names(); n != 0 {
		t.Errorf("%d holder files after all are closed", n)
	}
}

// TestBadRecord: a record cut short by a power loss belongs to a dead holder.
func TestBadRecord(t *testing.T) {
	home := t.TempDir()
	s := mustOpen(t, home, Config{})
	defer func() { _ = s.Close() }()
	dead := mustOpen(t, home, Config{})
	newLog(t, dead, "a")
	abandon(dead)
	if err := os.Truncate(filepath.Join(home, "holders", dead.self.id), 10); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(t.Context(), "a"); err != nil {
		t.Error(err)
	}
}

// TestWaitingIsCancelled: who waits for another process's turn at the lock can give up, and then nothing is written.
func TestWaitingIsCancelled(t *testing.T) {
	home := t.TempDir()
	s := mustOpen(t, home, Config{})
	l := newLog(t, s, "a")
	lock, err := openWriteLock(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.acquire(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Create(ctx, store.NewSession{ID: "b"}) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("create: %v", err)
	}
	lock.release()
	l.must(1)
	if _, err := s.Get(t.Context(), "b"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the cancelled session: %v", err)
	}
	if err := errors.Join(s.Close(), lock.close()); err != nil {
		t.Error(err)
	}
}
