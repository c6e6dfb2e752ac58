package sessions_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: a name that a session is given while a process runs it leads to it at once, and the old one no more.
func TestRenameOfARunningSession(t *testing.T) {
	w := clitest.New(t)
	model := w.Scripted(`{"turns":[{"match":"go","steps":[{"tools":[{"name":"Bash","input":{"command":"touch begun; until [ -e end ]; do sleep 0.01; done"}}]},{"text":"done"}]}]}`)
	o, wait := w.Start("-p", "--model", model, "--session-id", "s", "--name", "before", "--allowed-tools", "Bash", "go")
	begun := func() bool {
		_, err := os.Stat(filepath.Join(w.Dir, "begun"))
		return err == nil
	}
	clitest.Until(t, "the command runs", begun)
	w.OK("rename", "before", "after")
	if out := w.OK("show", "after", "--json"); !strings.Contains(out, `"id":"s"`) {
		t.Error(out)
	}
	w.Fails(app.ExitMissing, "no session", "show", "before")
	if l := clitest.Lines(t, w.OK("list", "--json")); len(l) != 1 || l[0]["title"] != "after" {
		t.Errorf("%v", l)
	}
	if err := os.WriteFile(filepath.Join(w.Dir, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if wait(); o.Read().Code != 0 {
		t.Errorf("%+v", o.Read())
	}
	w.OK("show", "after")
}
