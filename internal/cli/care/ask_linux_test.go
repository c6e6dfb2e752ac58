package care_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: what was typed before a question was shown is no answer to it: a y in the way deletes and takes over nothing.
func TestTypedBeforeAQuestion(t *testing.T) {
	w := clitest.New(t)
	w.Create("kept")
	for _, typed := range []string{"y\n", "y"} {
		p := w.SitTyped(typed, 120, 40, "delete", "kept")
		p.Sees("[y/N] ")
		p.Types("\n") // Enter alone is no; behind a y of before it would be yes
		p.Left(app.ExitFailed)
		w.OK("show", "kept")
	}
	w.Abroad("kept")
	p := w.SitTyped("y\n", 120, 40, "takeover", "kept")
	p.Sees("[y/N] ")
	p.Types("\n")
	p.Left(app.ExitFailed)
	if out := w.OK("list", "--json"); !strings.Contains(out, "elsewhere") {
		t.Errorf("the session was taken over: %s", out)
	}
}
