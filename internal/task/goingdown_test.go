package task

import (
	"context"
	"syscall"
	"testing"

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
