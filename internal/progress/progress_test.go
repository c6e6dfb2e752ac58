package progress_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/progress"
)

func TestStandInWords(t *testing.T) {
	for want, s := range map[string]progress.Stand{
		"restoring files": {What: "restoring files"},
		"restoring files: 12,300 of 50,000 · 1.2 GiB": {What: "restoring files", Done: 12300, Of: 50000, Bytes: 1288490188},
		"looking at files: 7 · 12 B":                  {What: "looking at files", Done: 7, Bytes: 12},
		"sweeping: 1.0 MiB of 3.0 MiB":                {What: "sweeping", Bytes: 1 << 20, In: 3 << 20},
		"sweeping: 0 B of 3.0 MiB":                    {What: "sweeping", In: 3 << 20},
		"verifying events: 9 of 9":                    {What: "verifying events", Done: 9, Of: 8}, // there came more
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The work that was begun last is told, and that of a directory apart; whoever shows it hears when there is any.
func TestNewestWorkIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, ended := 0, 0
		m := &progress.Meter{}
		stop := m.Listen(progress.Listener{Began: func(time.Time) { began++ }, Ended: func() { ended++ }})
		if s, ok := m.Now(); ok {
			t.Errorf("without work: %v", s)
		}
		outer := m.Begin("outer", "/a")
		outer.Set(1, 3)
		begun := time.Now()
		time.Sleep(time.Second) //nolint:forbidigo // of a bubble's clock
		inner := m.Begin("inner", "/b")
		inner.Add(2, 10)
		inner.Add(1, 5)
		if s, _ := m.Now(); s.String() != "inner: 3 · 15 B" {
			t.Errorf("now: %s", s)
		}
		if s, _ := m.At("/a"); s.String() != "outer: 1 of 3" || !s.Since.Equal(begun) {
			t.Errorf("in its directory: %+v", s)
		}
		if s, ok := m.At("/c"); ok {
			t.Errorf("where nothing is done: %+v", s)
		}
		inner.End()
		inner.End()
		if s, _ := m.Now(); s.What != "outer" || ended != 0 {
			t.Errorf("after the inner one: %+v, ended %d times", s, ended)
		}
		outer.End()
		if _, ok := m.Now(); ok || began != 1 || ended != 1 {
			t.Errorf("began %d times, ended %d times", began, ended)
		}
		stop()
		m.Begin("unheard", "").End()
		if began != 1 || ended != 1 {
			t.Errorf("who has stopped listening is told: began %d times, ended %d times", began, ended)
		}
	})
}

// Pieces of work that follow each other within a second are one wait; later ones are another.
func TestOneWaitOfManyPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &progress.Meter{}
		begun := time.Now()
		for _, pause := range []time.Duration{900 * time.Millisecond, 900 * time.Millisecond, 1100 * time.Millisecond} {
			w := m.Begin("piece", "")
			if s, _ := m.Now(); !s.Since.Equal(begun) {
				t.Errorf("it waits since %v, not %v", s.Since, begun)
			}
			w.End()
			time.Sleep(pause) //nolint:forbidigo // of a bubble's clock
		}
		m.Begin("another", "")
		if s, _ := m.Now(); !s.Since.Equal(time.Now()) {
			t.Errorf("a later piece waits since %v", s.Since)
		}
	})
}

// Who counts himself is asked when somebody looks, and only then.
func TestFollowedWorkIsAskedWhenLookedAt(t *testing.T) {
	m, asked := &progress.Meter{}, 0
	w := m.Begin("looking at files", "/a")
	w.Follow(func() (int64, int64) { asked++; return 4, 2048 })
	if s, _ := m.Now(); s.String() != "looking at files: 4 · 2.0 KiB" || asked != 1 {
		t.Errorf("%s, asked %d times", s, asked)
	}
}

func TestNobodyLooks(t *testing.T) {
	var m *progress.Meter
	w := m.Begin("work", "")
	w.Add(1, 1)
	w.Set(1, 1)
	w.Sized(1, 1)
	w.Follow(func() (int64, int64) { return 0, 0 })
	w.End()
	if _, ok := m.Now(); ok {
		t.Error("a meter that is not there has work")
	}
}

// Many may work at once, while somebody looks.
func TestManyWorkAtOnce(t *testing.T) {
	m := &progress.Meter{}
	all := m.Begin("all", "")
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for range 200 {
				w := m.Begin("one", "")
				all.Add(1, 2)
				_, _ = m.Now()
				w.End()
			}
		})
	}
	running.Wait()
	if s, _ := m.Now(); s.Done != 1600 || s.Bytes != 3200 || s.What != "all" {
		t.Errorf("%+v", s)
	}
}

// Counting may be done for every file.
func BenchmarkAdd(b *testing.B) {
	w := (&progress.Meter{}).Begin("work", "")
	for b.Loop() {
		w.Add(1, 100)
	}
}
