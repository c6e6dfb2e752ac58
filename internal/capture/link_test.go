package capture_test

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/capture"
	"github.com/perdure/perdure/internal/tree"
)

// The time of a link is captured, so that it comes back with it.
func TestLinksHaveTheirTime(t *testing.T) {
	w := newWorld(t, nil)
	if err := os.Symlink("nowhere", w.path("l")); err != nil {
		t.Fatal(err)
	}
	at := unix.NsecToTimespec(time.Date(2020, 5, 6, 7, 8, 9, 10, time.UTC).UnixNano())
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, w.path("l"), []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		t.Fatal(err)
	}
	e, err := tree.Find(w.blobs, w.capture(capture.Walk).Tree, "l")
	if err != nil || e.MTime != at.Nano() || e.Target != "nowhere" {
		t.Errorf("%+v, %v", e, err)
	}
}
