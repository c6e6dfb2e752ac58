package run_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Who asks for a fork in the list of sessions, or for one of a session that another process holds, and gets none, is told
// why where they asked, and can do something else there.
func TestAForkThatFailsEndsNoScreen(t *testing.T) {
	p := newProject(t)
	plans := filepath.Join(p.Home, "deleting")
	inTheWay := func() {
		if err := os.RemoveAll(plans); err != nil {
			t.Fatal(err)
		}
		clitest.WriteFile(t, plans, "no plan can be made") // and so no directory of a session's own
	}
	inTheWay()
	p.App.Environ = append(p.App.Environ, "TERM=xterm-256color")

	ann := p.Sit(100, 30, "-r")
	ann.Sees("ctrl+f")
	ann.Sees("first") // the selected session is known
	ann.Types("\x06")
	ann.Sees("no fork: ")
	if err := os.Remove(plans); err != nil {
		t.Fatal(err)
	}
	ann.Types("\x06")
	ann.Sees("works in")
	ann.Types("\x03\x03")
	ann.Left(0)

	inTheWay()
	held := p.Sit(100, 30, "-r", "s")
	held.Sees("what is to be done")
	bob := p.Sit(100, 30, "-r", "s")
	bob.Sees("take it over")
	bob.Types("f")
	bob.Sees("no fork: ")
	bob.Types("a")
	bob.Sees("what is to be done")
	bob.Types("\x03\x03")
	bob.Left(0)
	held.Types("\x03\x03")
	held.Left(0)
}
