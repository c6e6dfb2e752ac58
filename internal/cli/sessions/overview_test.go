package sessions_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Sessions that hold nothing but tasks do not push those with a model out of the first screen, however many they are.
func TestOverviewBehindTasks(t *testing.T) {
	w := clitest.New(t)
	w.OK("-p", "--session-id", "talk", "--model", w.Scripted(clitest.SaysYes), "a long conversation")
	for range 5 + 1 {
		w.OK("task", "run", "--", "true")
	}
	out := w.OK()
	if !strings.Contains(out, "talk") || !strings.Contains(out, "perdure -p -c") {
		t.Errorf("the newest session that has a model is not shown:\n%s", out)
	}
	w.App.Screen, w.App.Size = true, func() (int, int) { return 80, 24 }
	o := w.Run("-p", "-r")
	if o.Code != 2 || o.Stdout != "" || !strings.Contains(o.Stderr, "talk") || strings.Count(o.Stderr, "\n") != 4 || !strings.Contains(o.Stderr, "a long conversation") {
		t.Errorf("the sessions to choose from: %+v", o)
	}
	w.Waits("two", clitest.Several, "--permission-mode", "default")
	for line := range strings.Lines(w.OK() + o.Stderr) {
		if n := ansi.StringWidth(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d cells: %s", n, line)
		}
	}
}
