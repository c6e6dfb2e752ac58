package sqlite

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/perdure/perdure/store"
)

// TestOnlyWhatFreesSpace: of what shares a turn at the lock while the disk is nearly full, what frees space is done, and
// what else is written is refused; a refusal of the first stays one.
func TestOnlyWhatFreesSpace(t *testing.T) {
	var free atomic.Int64
	free.Store(-1)
	s := mustOpen(t, t.TempDir(), Config{free: func(string) int64 { return free.Load() }})
	defer func() { _ = s.Close() }()
	for _, id := range []string{"gone", "kept"} {
		if err := s.Create(t.Context(), store.NewSession{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	calls := map[string]func() error{
		"delete":         func() error { return s.Delete(t.Context(), "gone") },
		"delete nothing": func() error { return s.Delete(t.Context(), "none") },
		"send":           func() error { _, err := s.Send(t.Context(), "kept", store.Item{Key: "k"}); return err },
		"create":         func() error { return s.Create(t.Context(), store.NewSession{ID: "new"}) },
	}
	answers := sync.Map{}
	blocked(t, s, func() {
		free.Store(reserve - 1)
		n := 0
		for name, call := range calls {
			all.Go(func() { answers.Store(name, call()) })
			for n++; len(s.writer.jobs) < n; {
				runtime.Gosched()
			}
		}
	})
	all.Wait()
	for name, want := range map[string]error{"delete": nil, "delete nothing": store.ErrNotFound, "send": store.ErrFull, "create": store.ErrFull} {
		answer, _ := answers.Load(name)
		if err, _ := answer.(error); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	free.Store(-1)
	if items, err := s.Pending(t.Context(), "kept", 0, 0); err != nil || len(items) != 0 {
		t.Errorf("%d items, %v", len(items), err)
	}
	for _, id := range []string{"gone", "new"} {
		if _, err := s.Get(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestLocksThatFail: a lock that cannot be had is told, nothing is written, and the store may be asked again.
func TestLocksThatFail(t *testing.T) {
	for _, which := range []string{"turn", "write"} {
		home := t.TempDir()
		s := mustOpen(t, home, Config{})
		l := newLog(t, s, "a")
		whole := *s.writer.lock
		closed, err := openPrivate(t.TempDir() + "/lock")
		if err == nil {
			err = closed.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		blocked(t, s, func() {}) // the writer is at rest
		if which == "turn" {
			s.writer.lock.turn = closed
		} else {
			s.writer.lock.write = closed
		}
		if err := l.append(1); err == nil || errors.Is(err, store.ErrUncertain) {
			t.Errorf("without %s.lock: %v", which, err)
		}
		*s.writer.lock = whole
		l.must(1)
		if got, err := readAll(s, "a"); err != nil || !same(got, l.acked) {
			t.Errorf("%d events, %v", len(got), err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
