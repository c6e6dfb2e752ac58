package cli

import (
	"strings"
	"testing"
)

// Goal: what was typed before a question was shown is no answer to it: a y in the way deletes and takes over nothing.
func TestTypedBeforeAQuestion(t *testing.T) {
	w := newWorld(t)
	w.create("kept")
	for _, typed := range []string{"y\n", "y"} {
		p := w.sitTyped(typed, 120, 40, "delete", "kept")
		p.sees("[y/N] ")
		p.types("\n") // Enter alone is no; behind a y of before it would be yes
		p.left(exitFailed)
		w.ok("show", "kept")
	}
	w.abroad("kept")
	p := w.sitTyped("y\n", 120, 40, "takeover", "kept")
	p.sees("[y/N] ")
	p.types("\n")
	p.left(exitFailed)
	if out := w.ok("list", "--json"); !strings.Contains(out, "elsewhere") {
		t.Errorf("the session was taken over: %s", out)
	}
}
