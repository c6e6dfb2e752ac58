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
//
// Of a signal's end it must not matter who is told last, and the shim is. An exit that the command has chosen is recorded
// at once: there the shim is told first, and the command goes on when the shim knows.
func TestGoingDown(t *testing.T) {
	for name, c := range map[string]struct {
		script               string
		first, command, last bool // who is told: the shim first, the command, the shim last
		end, by              string
	}{
		"ends by the signal": {"echo up; exec sleep 600", false, true, true, "killed SIGTERM by system", command.BySystem},
		"has a handler":      {"trap 'exit 3' TERM; echo up; while :; do sleep 0.01; done", true, true, false, "exited 3", command.BySystem},
		"command alone":      {"echo up; exec sleep 600", false, true, false, "killed SIGTERM by unknown", command.ByUnknown},
		"before its end":     {"echo up; " + untilGo + "exit 4", true, false, false, "exited 4", command.BySystem},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if c.first {
				b.shimEnv = []string{faultKey + "=wait:told"}
			}
			b.BootID = func() (string, error) { return "boot-1", nil }
			b.start(b.script("a", c.script))
			eventually(t, "it is up", func() bool { return b.output("a") == "up\n" })
			shim := b.publishedShim("a")
			if c.first {
				syscall.Kill(shim, syscall.SIGTERM)
				eventually(t, "the shim knows", func() bool { return exists(b.dirOf("a").path("waits")) })
			}
			if c.command {
				syscall.Kill(b.state("a").PID, syscall.SIGTERM)
			} else {
				b.touch("go")
			}
			if c.last {
				syscall.Kill(shim, syscall.SIGTERM)
			}
			if err := os.WriteFile(b.dirOf("a").path("wake"), nil, 0o600); err != nil {
				t.Fatal(err)
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

// publishedShim waits until the act's shim listens to signals, and returns its pid.
func (b *bench) publishedShim(act string) (pid int) {
	b.t.Helper()
	eventually(b.t, "the shim names itself", func() bool {
		shim, ok := b.dirOf(act).shim()
		pid = shim.PID
		return ok
	})
	return pid
}

// A shim that was told takes that for its command's reason for two minutes, however the command ended; one that was told
// before, or that has ended the command itself, or does not know how it ended, does not.
func TestTheSystemIsTheReasonForTwoMinutes(t *testing.T) {
	const term, ok = unix.WaitStatus(unix.SIGTERM), unix.WaitStatus(0)
	for name, c := range map[string]struct {
		told   int64 // ms before the command's end; 0: not yet
		signal bool  // it is being told now
		later  bool  // it is told up to 100 ms after the command's end
		killer string
		end    ending
		want   bool
	}{
		"two minutes before":  {120_000, false, false, "", ending{status: ok}, true},
		"a moment earlier":    {120_001, false, false, "", ending{status: ok}, false},
		"by the signal":       {120_000, false, false, "", ending{status: term}, true},
		"being told now":      {0, true, false, "", ending{status: ok}, true},
		"told again":          {120_001, true, false, "", ending{status: term}, true},
		"never":               {0, false, false, "", ending{status: ok}, false},
		"killed by the shim":  {1, true, false, "user", ending{status: term}, false},
		"lost":                {1, true, false, "", ending{lost: true}, false},
		"signalled, not told": {0, false, false, "", ending{status: term}, false},
		"told just after":     {0, false, true, "", ending{status: term}, true},
		"exited, told after":  {0, false, true, "", ending{status: ok}, false},
	} {
		now := time.UnixMilli(1_700_000_000_000)
		s := &shim{terms: make(chan os.Signal, 1), killer: c.killer, end: &c.end, ended: now.UnixMilli(), now: func() time.Time {
			now = now.Add(50 * time.Millisecond)
			return now
		}}
		if c.later {
			clock, looks := s.now, 0
			s.now = func() time.Time {
				if looks++; looks == 2 {
					s.terms <- syscall.SIGTERM
				}
				return clock()
			}
		}
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
