package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

const quick = `{"turns":[{"match":"first","steps":[{"text":"A"}]},{"match":"second","steps":[{"text":"B"}]}],"summary":{"text":"Goal: GOAL-X\nNext step: NEXT-Y"}}`

// Goal: a person who wants to be asked is asked once for each project whether its files may lie in it; where nobody is,
// nothing is made there.
func TestConsentIsAskedForOnce(t *testing.T) {
	for _, c := range []struct {
		answer string // empty: nobody is there
		made   bool
	}{{"", false}, {"n\n", false}, {"\n", false}, {"y\n", true}} {
		w := clitest.New(t)
		w.Configure("[knowledge]\nproject = \"ask\"\nmin_session = \"0s\"\n")
		model := w.Scripted(quick)
		if c.answer == "" {
			w.OK("-p", "--model", model, "first")
		} else {
			p := w.Sit(120, 40, "-p", "--model", model, "first")
			p.Sees("(y/N)")
			p.Types(c.answer)
			p.Left(0)
			again := w.Sit(120, 40, "-p", "--model", model, "second")
			again.Left(0)
			if strings.Contains(again.Shown.String(), "(y/N)") {
				t.Errorf("%+v: asked again: %q", c, again.Shown.String())
			}
		}
		if _, err := os.Stat(filepath.Join(w.Dir, ".agent")); (err == nil) != c.made {
			t.Errorf("%+v: in the project: %v", c, err)
		}
		if out := w.OK("handoff", "show"); !strings.Contains(out, "GOAL-X") {
			t.Errorf("%+v: %s", c, out)
		}
	}
}

// Goal: a person who wants to be asked sees what the handoff is about and goes on from it or begins fresh; where nobody is,
// the session goes on.
func TestAPersonIsAskedAboutTheHandoff(t *testing.T) {
	for _, c := range []struct {
		answer string // empty: nobody is there
		goesOn bool
	}{{"", true}, {"\n", true}, {"y\n", true}, {"n\n", false}} {
		w := clitest.New(t)
		w.Configure("[knowledge]\nhandoff = \"ask\"\n")
		model := w.Scripted(quick)
		w.OK("-p", "--model", model, "--session-id", "s", "first")
		w.OK("handoff", "write", "s")
		var shown string
		if c.answer == "" {
			o := w.Run("-p", "--model", model, "second")
			shown = o.Stderr
		} else {
			p := w.Sit(120, 40, "-p", "--model", model, "second")
			p.Sees("Go on from it")
			p.Types(c.answer)
			p.Left(0)
			shown = p.Shown.String()
		}
		if asked := c.answer != ""; strings.Contains(shown, "GOAL-X") != asked || strings.Contains(shown, "NEXT-Y") != asked ||
			strings.Contains(shown, "goes on from") != c.goesOn {
			t.Errorf("%+v: %q", c, shown)
		}
	}
}
