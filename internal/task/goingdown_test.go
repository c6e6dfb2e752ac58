//go:build linux || darwin

package task

import (
	"context"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/command"
)

// What the system ends together with its shim is told as that, and keeps its code or signal after the reboot: whether it
// is due to run again is for the log to say. A shim that is told alone ends nothing.
func TestGoingDown(t *testing.T) {
	for name, c := range map[string]struct {
		script        string
		shim, command bool
		end, by       string
	}{
		"ends by the signal": {"echo up; exec sleep 600", true, true, "killed SIGTERM by system", command.BySystem},
		"has a handler":      {"trap 'exit 3' TERM; echo up; while :; do sleep 0.01; done", true, true, "exited 3", command.BySystem},
		"command alone":      {"echo up; exec sleep 600", false, true, "killed SIGTERM by unknown", command.ByUnknown},
		"before its end":     {"echo up; " + untilGo + "exit 4", true, false, "exited 4", command.BySystem},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.BootID = func() (string, error) { return "boot-1", nil }
			b.start(b.script("a", c.script))
			eventually(t, "it is up", func() bool { return b.output("a") == "up\n" })
			pid, shims := b.state("a").PID, b.processesOf("a", shimArg)
			told := shims
			if !c.shim {
				told = nil
			}
			if name == "has a handler" { // its shim first: an exit that a handler has chosen is recorded at once, by nobody's order
				for _, p := range told {
					syscall.Kill(p.PID, syscall.SIGTERM)
				}
				told = nil
			}
			if c.command { // first: of a signal's end it must not matter who is told last
				syscall.Kill(pid, syscall.SIGTERM)
			}
			for _, p := range told {
				syscall.Kill(p.PID, syscall.SIGTERM)
			}
			if !c.command {
				b.touch("go")
			}
			if st := b.wait("a"); code(st) != c.end || st.By != c.by {
				t.Errorf("%s by %q", code(st), st.By)
			}
			next := *b.Runner
			next.BootID = func() (string, error) { return "boot-2", nil }
			for range 2 {
				if st, err := next.Settle(context.Background(), testSession, "a"); err != nil || code(st) != c.end || st.By != c.by || st.Output != 3 {
					t.Errorf("after the reboot: %s by %q, %v", code(st), st.By, err)
				}
			}
		})
	}
}

// A shim that was told takes that for its command's reason for two minutes, however the command ended; one that was told
// before, or that has ended the command itself, or does not know how it ended, does not.
func TestTheSystemIsTheReasonForTwoMinutes(t *testing.T) {
	const term, ok = unix.WaitStatus(unix.SIGTERM), unix.WaitStatus(0)
	for name, c := range map[string]struct {
		told   int64 // ms before the command's end; 0: not yet
		signal bool  // it is being told now
		killer string
		end    ending
		want   bool
	}{
		"two minutes before":  {120_000, false, "", ending{status: ok}, true},
		"a moment earlier":    {120_001, false, "", ending{status: ok}, false},
		"by the signal":       {120_000, false, "", ending{status: term}, true},
		"being told now":      {0, true, "", ending{status: ok}, true},
		"told again":          {120_001, true, "", ending{status: term}, true},
		"never":               {0, false, "", ending{status: ok}, false},
		"killed by the shim":  {1, true, "user", ending{status: term}, false},
		"lost":                {1, true, "", ending{lost: true}, false},
		"signalled, not told": {0, false, "", ending{status: term}, false},
	} {
		now := time.UnixMilli(1_700_000_000_000)
		s := &shim{terms: make(chan os.Signal, 1), killer: c.killer, end: &c.end, ended: now.UnixMilli(), now: func() time.Time {
			now = now.Add(50 * time.Millisecond)
			return now
		}}
		if c.told > 0 {
			s.termed = s.ended - c.told
		}
		if c.signal {
			s.terms <- syscall.SIGTERM
		}
		if got := s.endedWithAll(); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
