package sqlite

import (
	"bytes"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/storetest"
)

// TestReadersBound: a store reads by 1 to 64 connections.
func TestReadersBound(t *testing.T) {
	for n, fits := range map[int]bool{-1: false, 0: true, 1: true, 64: true, 65: false} {
		s, err := Open(t.Context(), t.TempDir(), Config{Readers: n})
		if (err == nil) != fits {
			t.Errorf("%d readers: %v", n, err)
		}
		if err == nil {
			if _, err := s.List(t.Context(), store.Query{}); err != nil {
				t.Error(err)
			}
			_ = s.Close()
		}
	}
}

// TestRoomIsForAllOfIt: whatever is large of a write counts for the room that it needs: with less of it the write is
// refused, and with all of it done.
func TestRoomIsForAllOfIt(t *testing.T) {
	free := int64(-1)
	s := mustOpen(t, t.TempDir(), Config{free: func(string) int64 { return free }})
	defer func() { _ = s.Close() }()
	l, ctx := newLog(t, s, "a"), t.Context()
	l.must(1)
	newLog(t, s, "free").must(1)
	if err := s.Release(ctx, store.Lease{Session: "free", Epoch: 1, Holder: s.self.id}); err != nil {
		t.Fatal(err)
	}
	const size = 1 << 20
	large := bytes.Repeat([]byte("x"), size)
	event := func(id string, h store.Head) []store.Event {
		return []store.Event{storetest.Seal(id, h, store.Event{Kind: "app", Codec: 1, Body: large})}
	}
	labels := map[string]string{"k": string(large)}
	for name, write := range map[string]func() error{
		"first events": func() error { return s.Create(ctx, store.NewSession{ID: "b1", Events: event("b1", store.Head{})}) },
		"labels":       func() error { return s.Create(ctx, store.NewSession{ID: "b2", Labels: labels}) },
		"what is listed": func() error {
			return s.Create(ctx, store.NewSession{ID: "b3", Heads: store.Heads{Extra: large}})
		},
		"an event": func() error { return s.Append(ctx, l.lease, store.Batch{Events: event("a", l.head)}) },
		"an event of a free session": func() error {
			return s.AppendFree(ctx, "free", store.Batch{Events: event("free", head(events("free", 1)))})
		},
		"an item":    func() error { _, err := s.Send(ctx, "a", store.Item{Key: "k", Body: large}); return err },
		"a snapshot": func() error { return s.SaveSnapshot(ctx, "a", store.Snapshot{Seq: 1, State: large}) },
		"an imported log": func() error {
			return s.Import(ctx, store.Imported{NewSession: store.NewSession{ID: "c1"}, Past: storedLog(event("c1", store.Head{})), Bytes: size})
		},
		"imported labels": func() error {
			return s.Import(ctx, store.Imported{NewSession: store.NewSession{ID: "c2", Labels: labels}})
		},
		"what is listed of an import": func() error {
			return s.Import(ctx, store.Imported{NewSession: store.NewSession{ID: "c3", Heads: store.Heads{Extra: large}}})
		},
	} {
		if free = reserve + 2*size - 1; !errors.Is(write(), store.ErrFull) {
			t.Errorf("%s: it is done without room", name)
		}
		free = reserve + 2*size + 1024
		if err := write(); err != nil {
			t.Errorf("%s, with room: %v", name, err)
		}
	}
	events := storetest.Events("a", head(append(events("a", 1), event("a", l.head)...)), 1)
	free = reserve + 2*int64(len(events[0].Body))
	if err := s.Append(ctx, l.lease, store.Batch{Events: events}); err != nil {
		t.Errorf("with just enough room: %v", err)
	}
}

// TestRebuiltBounds: a database up to 256 MiB is written anew, where there is room for two more of what lives in it.
func TestRebuiltBounds(t *testing.T) {
	const page, large = 4096, 256 << 20
	for _, tt := range []struct {
		live, free int64
		want       bool
	}{
		{page, -1, true},
		{page, 0, false},
		{page, 4<<20 + 2*page - 1, false},
		{page, 4<<20 + 2*page, true},
		{large, -1, true},
		{large, 4<<20 + 2*large, true},
		{large + page, -1, false},
		{large + page, 1 << 50, false},
	} {
		if got := rebuilt(tt.live, tt.free); got != tt.want {
			t.Errorf("%d live bytes, %d free: %t", tt.live, tt.free, got)
		}
	}
}

// TestMoreQueriesThanAreKept: a connection gives the right answer to more different queries than it keeps statements of.
func TestMoreQueriesThanAreKept(t *testing.T) {
	s := mustOpen(t, t.TempDir(), Config{Readers: 1})
	defer func() { _ = s.Close() }()
	newLog(t, s, "a")
	for i := range 2*maxStmts + 2 {
		if err := s.read(t.Context(), func(c *conn) error {
			found, err := c.one(fmt.Sprintf("SELECT %d FROM session", i), nil, func(v []driver.Value) error {
				if number(v[0]) != int64(i) {
					t.Errorf("query %d gives %v", i, v)
				}
				return nil
			})
			if !found || len(c.stmts) > maxStmts {
				t.Errorf("query %d: found %t, with %d statements", i, found, len(c.stmts))
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
}

// TestCheckpointCopies: a log that is long enough is copied into the database, at whatever length others are waited for.
func TestCheckpointCopies(t *testing.T) {
	for name, bounds := range map[string]sizes{
		"passive":        {reuse: 1 << 20, restart: 1 << 20},
		"with a rest":    {reuse: 10, restart: 1 << 20},
		"with a restart": {reuse: 1 << 20, restart: 10},
	} {
		bounds.events, bounds.bytes, bounds.queue, bounds.look, bounds.checkpoint, bounds.keep = 512, 16<<20, 64, 1, 12, 1<<20
		s := mustOpen(t, t.TempDir(), Config{sizes: &bounds})
		l := newLog(t, s, "a")
		for range 40 {
			l.must(1)
		}
		if err := s.Release(t.Context(), l.lease); err != nil {
			t.Fatal(err)
		}
		s.writer.stop() // its last checkpoint is done then
		if size, left, err := s.writer.wal("PRAGMA wal_checkpoint(NOOP)"); err != nil || left >= bounds.checkpoint {
			t.Errorf("%s: of %d pages %d are left, %v", name, size, left, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRecoveryIsWaitedFor: who opens the database in the moment in which another process takes its log away tries again;
// another error is told at once.
func TestRecoveryIsWaitedFor(t *testing.T) {
	home := t.TempDir()
	newLog(t, mustOpen(t, home, Config{}), "a").must(1)
	for code, opens := range map[int]bool{codeBusyRecovery: true, codeBusy: false} {
		for _, how := range []access{readWrite, readOnly} {
			busy, tries := 0, 0
			e := *native()
			connect := e.connect
			e.connect = func(path string, as access) (driver.Conn, error) {
				if as == how && busy > 0 {
					busy--
					tries++
					return nil, planted(code)
				}
				return connect(path, as)
			}
			if how == readOnly {
				busy = 3
			}
			s, err := Open(t.Context(), home, Config{engine: &e})
			if err == nil {
				busy = 3
				if how == readOnly {
					busy = 0
				}
				err = s.Create(t.Context(), store.NewSession{ID: fmt.Sprintf("b%d-%d", code, how)})
			}
			if (err == nil) != opens || opens && tries != 3 || !opens && tries != 1 {
				t.Errorf("code %d for access %d: %d tries, %v", code, how, tries, err)
			}
			if s != nil {
				_ = s.Close()
			}
		}
	}
}

// TestMarkLines: a mark is read as it was written; one that was changed, or names no session, says nothing.
func TestMarkLines(t *testing.T) {
	whole := acknowledged{Session: `a "b`, SNo: 1, Seq: 2, N: 3, PID: 4, Time: 5}
	line := encodeMark(nil, whole)
	if got, ok := decodeMark(append(bytes.Clone(line), "what a longer one left"...)); !ok || got != whole {
		t.Errorf("%q is read as %+v, %t", line, got, ok)
	}
	for i := range line[:len(line)-1] {
		torn := bytes.Clone(line)
		torn[i] ^= 1
		if got, ok := decodeMark(torn); ok {
			t.Errorf("%q is read as %+v", torn, got)
		}
	}
	for _, a := range []acknowledged{{SNo: 1, Seq: 2}, {Session: "a", Seq: 2}, {Session: "a", SNo: -1}} {
		if got, ok := decodeMark(encodeMark(nil, a)); ok {
			t.Errorf("%+v is read as %+v", a, got)
		}
	}
	if got := encodeMark([]byte(strings.Repeat("x", 500)), whole); !bytes.Equal(got, line) {
		t.Errorf("in a used buffer it is %q", got)
	}
}
