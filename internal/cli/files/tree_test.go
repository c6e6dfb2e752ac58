package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// A family that is deep and wide is drawn on forty columns so that each of it can be told: its id, how deep it lies,
// and which one was asked for. Programs get all of it.
func TestADeepAndWideFamilyFitsANarrowScreen(t *testing.T) {
	p := newProject(t)
	p.run(p.Scripted(script(t, map[string]string{"first": "echo 1 > a"})), "first")
	parent := "s"
	for i := range 30 {
		id := fmt.Sprintf("deep%02d", i)
		p.OK("fork", parent, "--conversation", "--id", id)
		p.OK("fork", "s", "--conversation", "--id", fmt.Sprintf("wide%02d", i))
		parent = id
	}
	all := p.OK("tree", "deep07")
	p.App.Screen, p.App.Size = true, func() (int, int) { return 40, 12 }
	narrow := p.OK("tree", "deep07")
	for i := range 30 {
		for _, id := range []string{fmt.Sprintf("deep%02d", i), fmt.Sprintf("wide%02d", i)} {
			if strings.Count(all, id) != 1 || strings.Count(narrow, "─ "+id) != 1 {
				t.Errorf("%s is not in the drawing once:\n%s", id, narrow)
			}
		}
	}
	for line := range strings.Lines(narrow) {
		if line = strings.TrimRight(line, "\n"); ansi.StringWidth(line) > 40 {
			t.Errorf("too wide: %q", line)
		}
		if strings.Contains(line, "deep07") != strings.HasSuffix(line, "  ←") {
			t.Errorf("who was asked for is not marked: %q", line)
		}
	}
	if !strings.Contains(narrow, "30… ") {
		t.Errorf("how deep it is is not said:\n%s", narrow)
	}
	if out := p.OK("tree", "--json"); strings.Count(out, `"session":`) != 61 {
		t.Errorf("%d sessions in JSON", strings.Count(out, `"session":`))
	}
}

// What was changed in a fork's directory without a turn, such as by its person, is counted, too; where the directory is
// gone it is what was captured last.
func TestAFamilyCountsWhatWasChangedOutsideOfTurns(t *testing.T) {
	p, model := attempted(t)
	p.prompt(model, "later", "-r", "kid")
	if out := p.OK("tree", "kid"); !strings.Contains(out, "3 files changed") {
		t.Fatal(out)
	}
	clitest.WriteFile(t, filepath.Join(p.ownDir("kid"), "by hand"), "x\n")
	if out := p.OK("tree", "kid"); !strings.Contains(out, "4 files changed") {
		t.Errorf("a change by hand is not counted: %s", out)
	}
	if err := os.RemoveAll(p.ownDir("kid")); err != nil {
		t.Fatal(err)
	}
	if out := p.OK("tree", "kid"); !strings.Contains(out, "3 files changed") {
		t.Errorf("the directory is gone: %s", out)
	}
}
