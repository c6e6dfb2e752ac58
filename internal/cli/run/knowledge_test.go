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
		asks   bool
		answer string
		made   bool
	}{{false, "", false}, {true, "n\n", false}, {true, "\n", false}, {true, "y\n", true}} {
		w := clitest.New(t)
		w.Configure("[knowledge]\nproject = \"ask\"\nmin_session = \"0s\"\n")
		model := w.Scripted(quick)
		w.App.Asks, w.App.Stdin = c.asks, strings.NewReader(c.answer)
		o := w.Run("-p", "--model", model, "first")
		if o.Code != 0 || strings.Contains(o.Stderr, "(y/N)") != c.asks {
			t.Errorf("%+v: %+v", c, o)
		}
		if _, err := os.Stat(filepath.Join(w.Dir, ".agent")); (err == nil) != c.made {
			t.Errorf("%+v: in the project: %v", c, err)
		}
		w.App.Stdin = strings.NewReader("")
		if o := w.Run("-p", "--model", model, "second"); o.Code != 0 || strings.Contains(o.Stderr, "(y/N)") {
			t.Errorf("%+v: asked again: %+v", c, o)
		}
		if o := w.Run("handoff", "show"); o.Code != 0 || strings.Contains(o.Stdout, "GOAL-X") == false {
			t.Errorf("%+v: %+v", c, o)
		}
	}
}

// Goal: a person who wants to be asked sees what the handoff is about and goes on from it or begins fresh; where nobody is,
// the session goes on.
func TestAPersonIsAskedAboutTheHandoff(t *testing.T) {
	for _, c := range []struct {
		asks   bool
		answer string
		goesOn bool
	}{{false, "", true}, {true, "\n", true}, {true, "y\n", true}, {true, "n\n", false}} {
		w := clitest.New(t)
		w.Configure("[knowledge]\nhandoff = \"ask\"\n")
		model := w.Scripted(quick)
		w.App.Asks = c.asks
		if o := w.Run("-p", "--model", model, "--session-id", "s", "first"); o.Code != 0 || strings.Contains(o.Stderr, "Go on from it") {
			t.Errorf("without a handoff: %+v", o)
		}
		w.OK("handoff", "write", "s")
		w.App.Stdin = strings.NewReader(c.answer)
		o := w.Run("-p", "--model", model, "second")
		if o.Code != 0 || strings.Contains(o.Stderr, "GOAL-X") != c.asks || strings.Contains(o.Stderr, "NEXT-Y") != c.asks ||
			strings.Contains(o.Stderr, "goes on from") != c.goesOn {
			t.Errorf("%+v: %+v", c, o)
		}
	}
}
