package sqlite

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/storetest"
)

// log is one session held by one store.
type log struct {
	t     testing.TB
	s     *Store
	lease store.Lease
	head  store.Head
	acked []store.Event
}

func newLog(t testing.TB, s *Store, id string) *log {
	t.Helper()
	ctx := context.Background()
	if err := s.Create(ctx, store.NewSession{ID: id}); err != nil && !errors.Is(err, store.ErrExists) {
		t.Fatal(err)
	}
	l, err := s.Acquire(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return &log{t: t, s: s, lease: l, head: l.Info.Head}
}

func (l *log) append(n int) error {
	events := storetest.Events(l.lease.Session, l.head, n)
	if err := l.s.Append(context.Background(), l.lease, store.Batch{Events: events}); err != nil {
		return err
	}
	l.head = store.Head{Seq: events[n-1].Seq, Hash: events[n-1].Hash}
	l.acked = append(l.acked, events...)
	return nil
}

func (l *log) must(n int) {
	l.t.Helper()
	if err := l.append(n); err != nil {
		l.t.Fatal(err)
	}
}

func readAll(s *Store, id string) (events []store.Event, err error) {
	for e, err := range s.Read(context.Background(), id, 1, 0) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

// TestSyncFails: after a sync that failed every call says ErrUncertain, and nothing touches the disk again, not even
// Close: a second sync could be told that all is well when it is not.
func TestSyncFails(t *testing.T) {
	for _, when := range []string{"commit", "checkpoint"} {
		t.Run(when, func(t *testing.T) {
			d := newDisk()
			e := boot(t, d)
			home := t.TempDir()
			s := mustOpen(t, home, simConfig(e, nil))
			l := newLog(t, s, "a")
			l.must(1)
			copied := d.files[databaseName].syncs
			d.onSync = func(int) error {
				if when == "commit" || d.files[databaseName].syncs > copied || len(d.files[databaseName].pending) > 0 {
					return errIO
				}
				return nil
			}
			var err error
			for i := 0; err == nil && i < 100; i++ {
				err = l.append(3)
			}
			if !errors.Is(err, store.ErrUncertain) {
				t.Fatalf("append: %v", err)
			}
			d.onSync = nil
			syncs, writes := d.syncs, d.writes
			everyCallFails(t, l, store.ErrUncertain)
			if d.syncs != syncs || d.writes != writes {
				t.Errorf("%d syncs and %d writes after the failure", d.syncs-syncs, d.writes-writes)
			}
			// The next process: what was acknowledged is there.
			h := &history{acked: map[string][]store.Event{"a": l.acked}}
			h.flying = map[string][]store.Event{"a": storetest.Events("a", l.head, 3)}
			if v := h.examine(simConfig(boot(t, d.powerLoss(dice(3))), nil), t.TempDir()); v != (verdict{}) {
				t.Errorf("%+v", v)
			}
		})
	}
}

func everyCallFails(t *testing.T, l *log, want error) {
	t.Helper()
	ctx := context.Background()
	s := l.s
	_, get := s.Get(ctx, "a")
	_, list := s.List(ctx, store.Query{})
	_, acquire := s.Acquire(ctx, "a")
	_, takeover := s.Takeover(ctx, "a")
	_, read := readAll(s, "a")
	_, send := s.Send(ctx, "a", store.Item{Key: "k"})
	_, pending := s.Pending(ctx, "a", 0, 0)
	_, prune := s.Prune(ctx, 0)
	_, load := s.LoadSnapshot(ctx, "a", 1, 0)
	_, reader := s.Reader(ctx, "a", "t", "r")
	for name, err := range map[string]error{
		"get": get, "list": list, "acquire": acquire, "takeover": takeover, "read": read, "send": send, "pending": pending,
		"prune": prune, "load": load, "reader": reader, "append": l.append(1), "release": s.Release(ctx, l.lease),
		"create": s.Create(ctx, store.NewSession{ID: "b"}), "delete": s.Delete(ctx, "a"),
		"save": s.SaveSnapshot(ctx, "a", store.Snapshot{Seq: 1}), "set": s.SetReader(ctx, "a", "t", "r", 1),
		"close": s.Close(), "close again": s.Close(),
	} {
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNoSpaceLeft: a full disk is refused before anything is written, names the remedy, and is over when there is
// room again.
func TestNoSpaceLeft(t *testing.T) {
	var free atomic.Int64
	free.Store(-1)
	cfg := simConfig(boot(t, newDisk()), nil)
	cfg.free = func(string) int64 { return free.Load() }
	l := newLog(t, mustOpen(t, t.TempDir(), cfg), "a")
	defer func() { _ = l.s.Close() }()
	free.Store(reserve - 1)
	err := l.append(1)
	if !errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrUncertain) || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("append: %v", err)
	}
	free.Store(reserve + 1<<20)
	l.must(1)
	if got, err := readAll(l.s, "a"); err != nil || len(got) != 1 {
		t.Errorf("%d events, %v", len(got), err)
	}
}

// TestDiskFillsUp: a write that fails before the commit is rolled back and can be tried again; one that fails inside
// the commit is uncertain.
func TestDiskFillsUp(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cache string
		want  error
	}{
		{"before the commit", "5", store.ErrFull}, // Pages that do not fit the cache are written early.
		{"in the commit", "-65536", store.ErrUncertain},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDisk()
			cfg := simConfig(boot(t, d), map[string]string{"cache_size": tt.cache})
			l := newLog(t, mustOpen(t, t.TempDir(), cfg), "a")
			other := newLog(t, l.s, "b")
			defer func() { _ = l.s.Close() }()
			l.must(2)
			full := true
			d.onWrite = func(string, int) error {
				if full {
					return sqlite3.FULL
				}
				return nil
			}
			err := l.append(300)
			if !errors.Is(err, tt.want) || errors.Is(err, store.ErrFull) && errors.Is(err, store.ErrUncertain) || !strings.Contains(err.Error(), "full") {
				t.Fatalf("append: %v", err)
			}
			if errors.Is(tt.want, store.ErrUncertain) {
				everyCallFails(t, l, store.ErrUncertain)
				return
			}
			full = false
			l.must(300)
			other.must(1)
			if got, err := readAll(l.s, "a"); err != nil || !same(got, l.acked) {
				t.Errorf("%d events, %v", len(got), err)
			}
		})
	}
}

// TestAnotherProgram: while somebody else keeps the database locked, writes fail with the remedy and without doubt;
// they go on when it is gone.
func TestAnotherProgram(t *testing.T) {
	home := t.TempDir()
	l := newLog(t, mustOpen(t, home, Config{pragmas: map[string]string{"busy_timeout": "10"}}), "a")
	defer func() { _ = l.s.Close() }()
	raw, err := native().connect(home+"/"+databaseName, readWrite)
	if err != nil {
		t.Fatal(err)
	}
	shell := newConn(native(), raw)
	if err := shell.script("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	err = l.append(1)
	if err == nil || errors.Is(err, store.ErrUncertain) || !strings.Contains(err.Error(), "another program") {
		t.Errorf("append: %v", err)
	}
	if _, err := readAll(l.s, "a"); err != nil {
		t.Errorf("read: %v", err)
	}
	if err := errors.Join(shell.script("ROLLBACK"), shell.close()); err != nil {
		t.Fatal(err)
	}
	l.must(1)
}

// TestCorruptEvents: a changed, missing, swapped or repeated row is found and named; what is before it can be read,
// and other sessions are unharmed.
func TestCorruptEvents(t *testing.T) {
	for _, tt := range []struct {
		name, sql string
		seq       int64
	}{
		{"body", "UPDATE event SET body = zeroblob(length(body)) WHERE session_no = 1 AND seq = 4", 4},
		{"body of another type", "UPDATE event SET body = 5 WHERE session_no = 1 AND seq = 4", 4},
		{"time", "UPDATE event SET time = time + 1 WHERE session_no = 1 AND seq = 4", 4},
		{"kind", "UPDATE event SET kind = 'app2' WHERE session_no = 1 AND seq = 4", 4},
		{"flags", "UPDATE event SET flags = flags + 256 WHERE session_no = 1 AND seq = 4", 4},
		{"actor", "UPDATE event SET actor_id = 'x' WHERE session_no = 1 AND seq = 4", 4},
		{"digest", "UPDATE event SET digest = hash WHERE session_no = 1 AND seq = 4", 4},
		{"hash", "UPDATE event SET hash = digest WHERE session_no = 1 AND seq = 4", 4},
		{"short hash", "UPDATE event SET hash = x'00' WHERE session_no = 1 AND seq = 4", 4},
		{"missing", "DELETE FROM event WHERE session_no = 1 AND seq = 4", 4},
		{"first missing", "DELETE FROM event WHERE session_no = 1 AND seq = 1", 1},
		{"last missing", "DELETE FROM event WHERE session_no = 1 AND seq = 6", 6},
		{"swapped", "UPDATE event SET seq = CASE seq WHEN 4 THEN -5 WHEN 5 THEN 4 END WHERE session_no = 1 AND seq IN (4, 5)", 4},
		{"of another session", "UPDATE event SET body = (SELECT body FROM event WHERE session_no = 2 AND seq = 4) WHERE session_no = 1 AND seq = 4", 4},
		{"head", "UPDATE session SET head_hash = zeroblob(32) WHERE sno = 1", 6},
		{"all gone", "DELETE FROM event WHERE session_no = 1", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := mustOpen(t, t.TempDir(), Config{})
			defer func() { _ = s.Close() }()
			a, b := newLog(t, s, "a"), newLog(t, s, "b")
			a.must(6)
			b.must(6)
			if err := s.write(t.Context(), 0, 0, func(c *conn) error { return c.script(tt.sql) }); err != nil {
				t.Fatal(err)
			}
			got, err := readAll(s, "a")
			var corrupt *store.CorruptError
			if !errors.As(err, &corrupt) || corrupt.Seq != tt.seq || corrupt.Session != "a" {
				t.Fatalf("read: %v, want event %d named", err, tt.seq)
			}
			if !same(got, a.acked[:tt.seq-1]) {
				t.Errorf("%d good events, want %d", len(got), tt.seq-1)
			}
			if got, err := readAll(s, "b"); err != nil || !same(got, b.acked) {
				t.Errorf("other session: %d events, %v", len(got), err)
			}
			b.must(1)
		})
	}
}

// TestCorruptBytes: whatever byte of the file changes, what is read is either right or refused; no changed event is
// ever handed out, and nothing panics.
func TestCorruptBytes(t *testing.T) {
	d := newDisk()
	cfg := simConfig(boot(t, d), nil)
	s := mustOpen(t, t.TempDir(), cfg)
	a, b := newLog(t, s, "a"), newLog(t, s, "b")
	for range 12 {
		a.must(2)
		b.must(1)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole := d.files[databaseName].now
	step := 997
	if soak() {
		step = 101
	}
	refused := 0
	for at := 0; at < len(whole); at += step {
		next := d.powerLoss(keepAll)
		f := next.files[databaseName]
		f.now[at] ^= 0x55
		f.durable[at] ^= 0x55
		if !intact(t, next, map[string]*log{"a": a, "b": b}) {
			refused++
		}
	}
	t.Logf("%d of %d flipped bytes were in the way of something", refused, len(whole)/step+1)
	if refused == 0 {
		t.Error("no flipped byte was ever noticed")
	}
}

// intact opens a damaged store and fails the test if it hands out what was never written.
func intact(t *testing.T, d *disk, logs map[string]*log) bool {
	s, err := Open(t.Context(), t.TempDir(), simConfig(boot(t, d), nil))
	if err != nil {
		return false
	}
	defer func() { _ = s.Close() }()
	whole := true
	for id, l := range logs {
		got, err := readAll(s, id)
		if len(got) > len(l.acked) || !same(got, l.acked[:len(got)]) {
			t.Fatalf("%s hands out %d events that differ from what was written", id, len(got))
		}
		// A shorter log without an error: the session's row was hit. Only heads published elsewhere could tell.
		whole = whole && err == nil && len(got) == len(l.acked)
	}
	return whole
}
