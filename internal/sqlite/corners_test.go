package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/storetest"

	"github.com/perdure/perdure/internal/sys"
)

// rows counts what a table has.
func rows(t *testing.T, s *Store, table string) (n int64) {
	t.Helper()
	if err := s.read(t.Context(), func(c *conn) error {
		_, err := c.one("SELECT count(*) FROM "+table, nil, func(v []driver.Value) error {
			n = number(v[0])
			return nil
		})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCheckpointRests: a checkpoint that could not copy a long log as a whole waits for the writers, to copy what is
// left; one of a shorter log keeps nobody waiting.
func TestCheckpointRests(t *testing.T) {
	for _, long := range []bool{true, false} {
		home := t.TempDir()
		s := mustOpen(t, home, Config{sizes: &sizes{events: 512, bytes: 16 << 20, queue: 64, look: 1 << 30, checkpoint: 5, reuse: 10, restart: 1 << 20}})
		l := newLog(t, s, "a")
		reader := mustOpen(t, home, Config{})
		old, err := reader.openReading()
		if err == nil {
			err = errors.Join(old.script("BEGIN"), old.touch()) // What comes after it cannot be copied past it.
		}
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			l.must(1)
		}
		if err := s.Release(t.Context(), l.lease); err != nil {
			t.Fatal(err)
		}
		w := s.writer
		w.stop() // its fields are the test's from here on
		if w.since = w.sizes.look; !long {
			w.sizes.reuse = 1 << 20
		}
		lock, err := openWriteLock(home)
		if err != nil {
			t.Fatal(err)
		}
		if err := flock(lock.write, sys.Exclusive); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { defer close(done); w.checkpoint() }()
		waits := false
		for ended := false; !ended && !waits; {
			select {
			case <-done:
				ended = true
			default:
				free, err := tryLock(lock.turn, sys.Exclusive)
				if waits = !free; err != nil {
					t.Fatal(err)
				}
				_ = flock(lock.turn, sys.Unlock)
			}
		}
		lock.release()
		<-done
		if waits != long {
			t.Errorf("a long log %t: it waits for the writers %t", long, waits)
		}
		if err := errors.Join(old.close(), reader.Close(), s.Close(), lock.close()); err != nil {
			t.Error(err)
		}
	}
}

// TestDeleteSweepsEveryTable: a deleted session leaves no row in any table.
func TestDeleteSweepsEveryTable(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Config{})
	defer func() { _ = s.Close() }()
	l := newLog(t, s, "a")
	l.must(3)
	_, send := s.Send(t.Context(), "a", store.Item{Key: "k"})
	heads := store.Heads{Labels: map[string]string{"k": "v"}}
	err := errors.Join(send, s.SaveSnapshot(t.Context(), "a", store.Snapshot{Seq: 3, State: []byte("x")}),
		s.SetReader(t.Context(), "a", "t", "r", 1), s.Append(t.Context(), l.lease, store.Batch{Heads: &heads}), s.Release(t.Context(), l.lease))
	if err != nil {
		t.Fatal(err)
	}
	tables := []string{"session", "listing", "label", "event", "inbox", "snapshot", "reader"}
	for _, table := range tables {
		if rows(t, s, table) == 0 {
			t.Errorf("%s has nothing to sweep", table)
		}
	}
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	for _, table := range append(tables, "garbage") {
		if n := rows(t, s, table); n != 0 {
			t.Errorf("%s: %d rows stay", table, n)
		}
	}
}

// TestTwoProbes: whoever looks whether a holder lives is not taken for the holder by the next one who looks.
func TestTwoProbes(t *testing.T) {
	home := t.TempDir()
	s, dead := mustOpen(t, home, Config{}), mustOpen(t, home, Config{})
	defer func() { _ = s.Close() }()
	newLog(t, dead, "a")
	path := filepath.Join(home, "holders", dead.self.id)
	abandon(dead)
	probe, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = probe.Close() }()
	if free, err := tryLock(probe, sys.Shared); !free || err != nil {
		t.Fatalf("the first probe: %t, %v", free, err)
	}
	if h := holderOf(t, s, "a"); h.Alive != store.Dead {
		t.Errorf("the second probe: %s", h.Alive)
	}
	if _, err := s.Acquire(t.Context(), "a"); err != nil {
		t.Error(err)
	}
}

// TestReleaseOfAnOldLease: it leaves the newer one as it is, which is given back when the store closes.
func TestReleaseOfAnOldLease(t *testing.T) {
	home := t.TempDir()
	s := mustOpen(t, home, Config{})
	old := newLog(t, s, "a")
	newer, err := s.Takeover(t.Context(), "a")
	if err == nil {
		err = s.Release(t.Context(), old.lease)
	}
	if err != nil {
		t.Fatal(err)
	}
	if held := s.held["a"]; held == nil || held.epoch != newer.Epoch {
		t.Errorf("the newer lease is forgotten: %+v", held)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	after := mustOpen(t, home, Config{})
	defer func() { _ = after.Close() }()
	if info, err := after.Get(t.Context(), "a"); err != nil || info.Holder != nil {
		t.Errorf("after the close it is held by %+v, %v", info.Holder, err)
	}
}

// TestNamesAreDurable: when a home is made, its own name and that of its database are durable before anything is
// acknowledged.
func TestNamesAreDurable(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	var synced []string
	cfg := Config{syncDir: func(dir string) error {
		if _, err := os.Stat(filepath.Join(home, databaseName)); err == nil && dir == home {
			synced = append(synced, databaseName)
		} else if _, err := os.Stat(home); err == nil && dir == filepath.Dir(home) {
			synced = append(synced, "home")
		}
		return sys.SyncDir(dir)
	}}
	s := mustOpen(t, home, cfg)
	defer func() { _ = s.Close() }()
	newLog(t, s, "a").must(1)
	if !slices.Equal(synced, []string{"home", databaseName}) {
		t.Errorf("synced: %v", synced)
	}
	failing := cfg
	failing.syncDir = func(string) error { return errIO }
	for what, home := range map[string]string{"a home": filepath.Join(t.TempDir(), "other"), "a database": t.TempDir()} {
		bad := mustOpen(t, home, failing)
		defer func() { _ = bad.Close() }()
		if err := bad.Create(t.Context(), store.NewSession{ID: "a"}); !errors.Is(err, errIO) {
			t.Errorf("%s whose name is not durable: %v", what, err)
		}
	}
}

// TestOwnCheckpoints: SQLite makes none of its own, which would swallow a failed sync.
func TestOwnCheckpoints(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Config{})
	defer func() { _ = s.Close() }()
	newLog(t, s, "a")
	if _, err := s.writer.conn.one("PRAGMA wal_autocheckpoint", nil, func(v []driver.Value) error {
		if number(v[0]) != 0 {
			t.Errorf("after %d pages SQLite checkpoints by itself", number(v[0]))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedSnapshot: it is passed over for the one before.
func TestDamagedSnapshot(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Config{})
	defer func() { _ = s.Close() }()
	newLog(t, s, "a").must(3)
	for seq := int64(1); seq <= 2; seq++ {
		if err := s.SaveSnapshot(t.Context(), "a", store.Snapshot{Seq: seq, FoldVersion: 1, State: []byte("state")}); err != nil {
			t.Fatal(err)
		}
	}
	for want := int64(1); want >= 0; want-- {
		damage := func(c *conn) error {
			_, err := c.exec("UPDATE snapshot SET state = 'other' WHERE seq = ?1", want+1)
			return err
		}
		if err := s.write(t.Context(), 1, 0, damage); err != nil {
			t.Fatal(err)
		}
		got, err := s.LoadSnapshot(t.Context(), "a", 1, 0)
		if err != nil || want == 0 && got != nil || want > 0 && (got == nil || got.Seq != want || string(got.State) != "state") {
			t.Errorf("with %d sound ones: %+v, %v", want, got, err)
		}
	}
}

// blocked lets the writer wait until what is queued meanwhile is queued, so that it shares one transaction.
func blocked(t *testing.T, s *Store, queue func()) {
	t.Helper()
	begun, end, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- s.write(t.Context(), 1, 0, func(*conn) error { close(begun); <-end; return errNothing })
	}()
	<-begun
	queue()
	close(end)
	if err := <-done; !errors.Is(err, errNothing) {
		t.Error(err)
	}
}

// TestListingAfterRollback: an append whose transaction is rolled back because of another one in it, and that is tried
// again alone, writes its listing again too.
func TestListingAfterRollback(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Config{})
	defer func() { _ = s.Close() }()
	l := newLog(t, s, "a")
	l.must(1)
	var all sync.WaitGroup
	failed := errors.New("this one's rows are at fault")
	waiting := func(n int) {
		for len(s.writer.jobs) < n {
			runtime.Gosched()
		}
	}
	blocked(t, s, func() {
		all.Go(func() {
			events := storetest.Events("a", l.head, 1)
			if err := s.Append(t.Context(), l.lease, store.Batch{Events: events, Heads: &store.Heads{Title: "new"}}); err != nil {
				t.Error(err)
			}
		})
		waiting(1)
		all.Go(func() {
			if err := s.write(t.Context(), 1, 0, func(*conn) error { return failed }); !errors.Is(err, failed) {
				t.Error(err)
			}
		})
		waiting(2)
	})
	all.Wait()
	if info, err := s.Get(t.Context(), "a"); err != nil || info.Heads.Title != "new" || info.Head.Seq != 2 {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestCancelledInItsCommit: a write that has begun when its caller gives up is answered with what became of it.
func TestCancelledInItsCommit(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Config{})
	defer func() { _ = s.Close() }()
	l := newLog(t, s, "a")
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan struct{})
	events := storetest.Events("a", store.Head{}, 1)
	err := error(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = s.write(ctx, 1, 0, func(c *conn) error {
			close(begun)
			<-ctx.Done()
			return s.appendTx(c, s.held["a"], l.lease, store.Batch{Events: events}, 1)
		})
	}()
	<-begun
	cancel()
	<-done
	if got, readErr := readAll(s, "a"); err != nil || readErr != nil || len(got) != 1 {
		t.Errorf("the answer is %v, and the log has %d events, %v", err, len(got), readErr)
	}
}
