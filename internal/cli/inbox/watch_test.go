package inbox_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"

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

// On a narrow terminal each entry has one line, with the words of what waits in it, also where several wait in one session;
// what has no room is counted.
func TestWatchFitsANarrowTerminal(t *testing.T) {
	w := clitest.New(t)
	const id = "00a1ff68-d0db-700f-bb82-1a5bd217bfa2"
	w.Waits(id, clitest.Asking("Bash", map[string]any{"command": "touch 日本語 and more that is too long"}))
	for i := range 9 {
		w.Waits(fmt.Sprint("01a1ff68-d0db-700f-bb82-1a5bd217bff", i), clitest.Asking("AskUser", map[string]any{"question": "Which of them?"}))
	}
	terminal := *w.App
	terminal.Screen, terminal.Size = true, func() (int, int) { return 40, 12 }
	w.App = &terminal
	r, wait := w.Start("inbox", "--watch")
	clitest.Until(t, "it is drawn", func() bool { return strings.Contains(r.Read().Stdout, "more") })
	lines := strings.Split(strings.TrimSpace(ansi.Strip(r.Read().Stdout)), "\n")
	if len(lines) > 11 {
		t.Errorf("%d lines of 12", len(lines))
	}
	for _, l := range lines {
		if ansi.StringWidth(l) > 40 {
			t.Errorf("%d cells: %q", ansi.StringWidth(l), l)
		}
	}
	if text := strings.Join(lines, "\n"); !strings.Contains(text, "Bash touch") || !strings.Contains(text, "asks") {
		t.Errorf("what waits cannot be read:\n%s", text)
	}
	w.Signals <- syscall.SIGINT
	wait()
}
