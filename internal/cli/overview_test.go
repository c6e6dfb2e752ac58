package cli

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// Sessions that hold nothing but tasks do not push those with a model out of the first screen, however many they are.
func TestOverviewBehindTasks(t *testing.T) {
	w := newWorld(t)
	w.ok("-p", "--session-id", "talk", "--model", w.scripted(saysYes), "a long conversation")
	for range overviewSessions + 1 {
		w.ok("task", "run", "--", "true")
	}
	out := w.ok()
	if !strings.Contains(out, "talk") || !strings.Contains(out, "perdure -p -c") {
		t.Errorf("the newest session that has a model is not shown:\n%s", out)
	}
	w.app.Screen, w.app.Size = true, func() (int, int) { return 80, 24 }
	o := w.run("-p", "-r")
	if o.code != 2 || o.stdout != "" || !strings.Contains(o.stderr, "talk") || strings.Count(o.stderr, "\n") != 4 || !strings.Contains(o.stderr, "a long conversation") {
		t.Errorf("the sessions to choose from: %+v", o)
	}
	w.waits("two", several, "--permission-mode", "default")
	for line := range strings.Lines(w.ok() + o.stderr) {
		if n := ansi.StringWidth(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d cells: %s", n, line)
		}
	}
}
