package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
)

// The targets of wake-ups.
const (
	maxWake      = 5 * time.Millisecond // from what one process sends until another one, which slept, has acted on it
	maxDeliver   = 2 * time.Millisecond // of a delivery, beside its syncs
	maxFollowers = 0.005                // of a processor, for 100 followers of sessions that rest
)

const wakeHolder = "PERDURE_BENCH_HOLDER"

// holding is a process of its own that holds a session, until it is told to end.
func holding(t *testing.T, dir, id string) (end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestWakeFigures$")
	cmd.Env = append(os.Environ(), wakeHolder+"="+dir+"\x1f"+id)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// hold is what that process does.
func hold(t *testing.T, dir, id string) {
	h, err := homes.Open(t.Context(), dir, homes.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.Hold(t.Context(), id, homes.HoldOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Print("!")
	_, _ = io.Copy(io.Discard, os.Stdin) // Its end is the news.
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// TestWakeFigures: what one process sends to a session that another one holds, asleep, is acted on at once; so it is
// within a process; and who only looks on costs nothing while nothing happens.
func TestWakeFigures(t *testing.T) {
	if arg := os.Getenv(wakeHolder); arg != "" {
		var dir, id string
		for i := range arg {
			if arg[i] == '\x1f' {
				dir, id = arg[:i], arg[i+1:]
			}
		}
		hold(t, dir, id)
		return
	}
	if !benching(t) {
		return
	}
	h := openHome(t)
	sync := syncTime(t, t.TempDir())
	id := newSession(t, h)
	name := "n"
	deliver := func() {
		if err := h.Deliver(t.Context(), id, "", &session.Labelled{Title: &name}); err != nil {
			t.Fatal(err)
		}
	}
	report := func(what string, syncs int, most time.Duration) {
		deliver()
		took := medianOf(t, 100, deliver)
		beside := took - time.Duration(syncs)*sync
		fmt.Printf("%s: %s, beside its %d syncs of %s: %s\n", what, took, syncs, sync, beside)
		if beside > most {
			t.Errorf("%s: %s beside its syncs; at most %s", what, beside, most)
		}
	}
	report("delivery to a session that nobody holds", 4, maxDeliver)
	s, err := h.Hold(t.Context(), id, homes.HoldOptions{})
	if err != nil {
		t.Fatal(err)
	}
	report("delivery to a session that this process holds", 2, maxDeliver)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	end := holding(t, h.Dir(), id)
	report("delivery to a session that another process holds", 2, maxWake)
	end()
	followers(t, h)
}

// followers measures what 100 cost while nothing happens.
func followers(t *testing.T, h *homes.Home) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 100 {
		id := newSession(t, h)
		go func() {
			for range h.Follow(ctx, id, 1) {
			}
		}()
	}
	const length = 5 * time.Second
	<-time.After(time.Second)
	before := processorTime(t)
	<-time.After(length)
	share := float64(processorTime(t)-before) / float64(length)
	fmt.Printf("100 followers of sessions that rest: %.2f %% of a processor\n", 100*share)
	if share > maxFollowers {
		t.Errorf("at most %.1f %%", 100*maxFollowers)
	}
}

func newSession(t *testing.T, h *homes.Home) string {
	t.Helper()
	id, err := h.Create(t.Context(), engine.Spec{Agent: session.Agent{Provider: "none", Model: "none"}, Cwd: "/"})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// syncTime is what it takes to write a page beside the home and sync it.
func syncTime(t *testing.T, dir string) time.Duration {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "raw"))
	if err != nil {
		t.Fatal(err)
	}
	page := make([]byte, 4<<10)
	if _, err := f.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	return medianOf(t, 200, func() {
		if _, err := f.WriteAt(page, 0); err != nil {
			t.Fatal(err)
		}
		if err := fdatasync(f); err != nil {
			t.Fatal(err)
		}
	})
}
