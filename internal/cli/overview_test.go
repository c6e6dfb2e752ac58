package cli

import (
	"strings"
	"testing"
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
}
