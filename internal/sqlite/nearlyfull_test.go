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
// what else is written is refused; a refusal or a failure of the first stays one.
func TestOnlyWhatFreesSpace(t *testing.T) {
	t.Run("refusal", func(t *testing.T) { onlyWhatFreesSpace(t, 0, store.ErrNotFound) })
	t.Run("failure", func(t *testing.T) { onlyWhatFreesSpace(t, 2, errPlanted) }) // of the BEGIN after the first ROLLBACK
}

func onlyWhatFreesSpace(t *testing.T, fails int, want error) {
	var free atomic.Int64
	free.Store(-1)
	faults := &failing{}
	s := mustOpen(t, t.TempDir(), Config{free: func(string) int64 { return free.Load() }, engine: faults.engine()})
	defer func() { _ = s.Close() }()
	for _, id := range []string{"gone", "kept"} {
		if err := s.Create(t.Context(), store.NewSession{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	calls := []struct {
		name string
		call func() error
		want error
	}{ // in this order they share a turn, whatever each counts for
		{"create", func() error { return s.Create(t.Context(), store.NewSession{ID: "new"}) }, store.ErrFull},
		{"send", func() error { _, err := s.Send(t.Context(), "kept", store.Item{Key: "k"}); return err }, store.ErrFull},
		{"delete nothing", func() error { return s.Delete(t.Context(), "none") }, want},
		{"delete", func() error { return s.Delete(t.Context(), "gone") }, nil},
	}
	answers := make([]error, len(calls))
	blocked(t, s, func() {
		free.Store(reserve - 1)
		faults.plant(fails)
		for i, c := range calls {
			all.Go(func() { answers[i] = c.call() })
			for len(s.writer.jobs) <= i {
				runtime.Gosched()
			}
		}
	})
	all.Wait()
	for i, c := range calls {
		if !errors.Is(answers[i], c.want) {
			t.Errorf("%s: %v, want %v", c.name, answers[i], c.want)
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
