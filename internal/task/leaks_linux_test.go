package task

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/test/needs"
)

// openBelow counts this process's descriptors of files whose path begins so.
func openBelow(t *testing.T, path string) (n int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.HasPrefix(to, path) {
			n++
		}
	}
	return n
}

// keepGarbage has nothing closed for the only reason that it is garbage.
func keepGarbage(t *testing.T) {
	before := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(before) })
}

// What is opened of a command is closed when it is not needed any more: by who holds on to it, by who waits and gives up,
// and by who opens the log of a shim.
func TestNoDescriptorStays(t *testing.T) {
	keepGarbage(t)
	b := newBench(t)
	b.startElsewhere("echo up; " + untilGo)
	d := b.dirOf("a")
	var k keeper
	k.hold(d)
	if openBelow(t, d.path(fifoName)) != 1 || guards(d) != 1 {
		t.Errorf("held by %d descriptors and %d handles", openBelow(t, d.path(fifoName)), guards(d))
	}
	k.close()
	ctx, cancel := context.WithCancel(context.Background())
	waited := make(chan error, 1)
	go func() {
		_, err := b.Wait(ctx, testSession, "a")
		waited <- err
	}()
	eventually(t, "the waiter sleeps", func() bool { return asleep(d) })
	cancel()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("waited: %v", err)
	}
	eventually(t, "no handle stays", func() bool { return guards(d) == 0 })
	log, err := d.openLog()
	if err != nil {
		t.Fatal(err)
	}
	log.Close()
	if n := openBelow(t, string(d)); n != 0 {
		t.Errorf("%d descriptors stay", n)
	}
	b.touch("go")
	b.wait("a")
	b.start(b.script("b", "sleep 60"))
	if n := openBelow(t, b.dirOf("b").path(logName)); n != 0 {
		t.Errorf("%d descriptors of a shim's log stay", n)
	}
}

// A shim keeps none of the descriptors that it has opened for its stand-in.
func TestShimKeepsNoDescriptorOfItsStandIn(t *testing.T) {
	b := newBench(t)
	b.start(b.script("a", "sleep 60"))
	var shim shimRecord
	eventually(t, "the shim names itself", func() (ok bool) { shim, ok = b.dirOf("a").shim(); return ok && shim.Standby > 0 })
	entries, err := os.ReadDir(procPath(shim.PID, "fd"))
	if err != nil {
		needs.Not(t, "the descriptors of a shim are not to be seen: %v", err)
	}
	for _, e := range entries {
		if n, _ := strconv.Atoi(e.Name()); n >= standbyAway {
			to, _ := os.Readlink(procPath(shim.PID, "fd/"+e.Name()))
			t.Errorf("descriptor %d: %s", n, to)
		}
	}
}
