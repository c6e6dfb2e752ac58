package task

import (
	"context"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/command"
)

// A command whose shim was killed runs on and can still be ended with everything it started. A new shim sees how it
// ended. Where none can be started, that is found out later, as long as nobody has reaped the command; else its code is
// lost, not guessed.
func TestKillOrphan(t *testing.T) {
	inheritOrphans(t)
	for name, c := range map[string]struct {
		able, reaped bool
		want         string
	}{
		"by a new shim":                  {true, false, "killed SIGTERM by user"},
		"without a shim":                 {false, false, "killed SIGTERM by user"},
		"without a shim, reaped at once": {false, true, "lost shim_died"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.noRescue = true
			pids := b.startTree("wait")
			b.killShim("a")
			eventually(t, "the shim dies", func() bool { return b.state("a").Reason == command.ReasonOrphaned })
			st := b.state("a")
			if st.Status != command.Running || st.PID == 0 {
				t.Errorf("state %s", code(st))
			}
			reaped := make(chan bool, 1)
			if c.reaped {
				go func() { reaped <- reapedEnd(st.PID) }()
			}
			if !c.able {
				b.Exe = []string{"/no/such/binary"}
			}
			if err := b.Kill(context.Background(), testSession, "a", "user"); err != nil {
				t.Fatal(err)
			}
			if left := b.living(pids); len(left) > 0 {
				t.Errorf("alive: %v of %v", left, pids)
			}
			if c.reaped && !<-reaped {
				t.Error("the command was not this process's to reap")
			}
			b.Exe = nil
			st, err := b.Look(context.Background(), testSession, "a")
			if err != nil || code(st) != c.want || st.By != "user" {
				t.Errorf("state %s by %s, %v", code(st), st.By, err)
			}
			for _, pid := range pids {
				_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
			}
		})
	}
}

// reapedEnd waits for the end of a child, and reaps it.
func reapedEnd(pid int) bool {
	for {
		if n, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
			return n == pid
		}
	}
}
