//go:build linux || darwin

package task

import (
	"strings"
	"testing"
	"time"
)

// What a session keeps is bounded, whichever of its commands printed it: the one over the bound runs on, everything it
// prints is counted, and the gap is named; another session is not concerned.
func TestSessionQuota(t *testing.T) {
	b := newBench(t)
	const quota = 2 << 20
	b.SessionBytes = quota
	for i, act := range []string{"a", "b", "c"} {
		st := b.run(act, "head -c 1500000 /dev/zero; echo end")
		if code(st) != "exited 0" || st.Output != 1500004 {
			t.Errorf("%s: %s, %d bytes", act, code(st), st.Output)
		}
		out := b.output(act)
		if dropped := strings.Contains(out, "["); dropped != (i > 0) {
			t.Errorf("%s: dropped %v", act, dropped)
		}
	}
	if used := usedBySession(b.Dir + "/" + testSession); used > quota+2*freeBytes || used < quota-largeStep {
		t.Errorf("the session keeps %d bytes, bound %d", used, quota)
	}
	spec := b.script("a", "head -c 1500000 /dev/zero")
	spec.Session = "s2"
	b.start(spec)
	eventually(t, "the other session's command ends", func() bool {
		st, err := b.State("s2", "a")
		return err == nil && st.ExitCode != nil
	})
	if used := usedBySession(b.Dir + "/s2"); used != 1500000 {
		t.Errorf("the other session keeps %d bytes", used)
	}
}

// A disk that is nearly full is left alone, the command is not stopped, and its output comes back when there is room.
func TestDiskFloor(t *testing.T) {
	b := newBench(t)
	b.DiskFloor = 1 << 60
	st := b.run("a", "head -c 1000000 /dev/zero; echo end")
	if out := b.output("a"); code(st) != "exited 0" || st.Output != 1000004 || len(out) > freeBytes+100 || !strings.HasSuffix(out, "]") {
		t.Errorf("%s, %d bytes, kept %d", code(st), st.Output, len(out))
	}
	now := time.Unix(0, 0)
	a := allowance{floor: 1 << 60, now: func() time.Time { return now }, left: 10}
	if n, err := a.take(100); n != 10 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	a.left = 0
	if n, err := a.take(100); n != 0 || err == nil {
		t.Errorf("%d, %v", n, err)
	}
	a.floor = 1
	if n, err := a.take(100); n != 0 || err == nil {
		t.Errorf("looked again at once: %d, %v", n, err)
	}
	now = now.Add(quotaPause)
	if n, err := a.take(100); n != 100 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
