package app_test

import (
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/cli/app"
)

// What a signal has ended is said by what was being done, and not by what a context says of itself.
func TestASignalIsSaidInWords(t *testing.T) {
	for text, want := range map[string]string{
		"sweep blobs: context canceled":        "interrupted: sweep blobs",
		"fork session s: make d: interrupt":    "interrupted: fork session s: make d",
		"session s: waits: terminated":         "session s: waits: terminated", // of another cause
		"session s: no room on the disk":       "session s: no room on the disk",
		"context canceled is what it was told": "context canceled is what it was told",
	} {
		if got := app.Interrupted(text, syscall.SIGINT); got != want {
			t.Errorf("%q is said as %q, want %q", text, got, want)
		}
	}
}

// What still works after a signal is said to stop.
func TestLineSaysThatItStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, p, m := watched(true)
		w := m.Begin("restoring files", "")
		after(1100 * time.Millisecond)
		a.Stopping()
		after(300 * time.Millisecond)
		if shown(p) != "perdure: stopping: restoring files" {
			t.Errorf("it says %q", shown(p))
		}
		w.End()
	})
}
