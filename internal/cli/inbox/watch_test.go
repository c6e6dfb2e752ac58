package inbox_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// In a pipe, watch prints what waits and each change, whichever process makes it, until a signal ends it.
func TestWatchPrintsChanges(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		w := clitest.New(t)
		args := []string{"inbox", "--watch"}
		came, gone := "+ ", "- "
		if asJSON {
			args = append(args, "--json")
			came, gone = `"event":"waits"`, `"event":"over"`
		}
		w.Waits("a", clitest.Asking("Bash", map[string]any{"command": "touch one"}))
		r, wait := w.Start(args...)
		see := func(what, sign, text string) {
			t.Helper()
			clitest.Until(t, what, func() bool {
				for line := range strings.Lines(r.Read().Stdout) {
					if strings.Contains(line, sign) && strings.Contains(line, text) {
						return true
					}
				}
				return false
			})
		}
		see("what waits at first", came, "touch one")
		other := *w
		app := *w.App
		app.Signals = nil
		other.App = &app
		other.Waits("b", clitest.Asking("Bash", map[string]any{"command": "touch 日本語"}))
		see("what came", came, "touch 日本語")
		other.OK("approvals", "deny", "a", "--resume")
		see("what is over", gone, "touch one")
		if n := strings.Count(r.Read().Stdout, came); n > 4 { // the approvals, and at most what a is left with for a moment
			t.Errorf("%d lines of what came:\n%s", n, r.Read().Stdout)
		}
		w.Signals <- syscall.SIGINT
		wait()
		if r.Code != 130 {
			t.Errorf("exit %d: %s", r.Code, r.Read().Stderr)
		}
	}
}

// On a terminal the list is drawn anew, as a whole.
func TestWatchRedrawsATerminal(t *testing.T) {
	w := clitest.New(t)
	w.Waits("a", clitest.Asking("Bash", map[string]any{"command": "touch one"}))
	terminal := *w.App
	terminal.Screen = true
	w.App = &terminal
	r, wait := w.Start("inbox", "--watch")
	clitest.Until(t, "it is drawn", func() bool { return strings.Contains(r.Read().Stdout, "1 thing waits") })
	if out := r.Read().Stdout; !strings.Contains(out, "\x1b[2J") || !strings.Contains(out, "touch one") {
		t.Errorf("%q", out)
	}
	w.Signals <- syscall.SIGINT
	wait()
}
