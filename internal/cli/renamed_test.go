package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Goal: a name that a session is given while a process runs it leads to it at once, and the old one no more.
func TestRenameOfARunningSession(t *testing.T) {
	w := newWorld(t)
	model := w.scripted(`{"turns":[{"match":"go","steps":[{"tools":[{"name":"Bash","input":{"command":"touch begun; until [ -e end ]; do sleep 0.01; done"}}]},{"text":"done"}]}]}`)
	o, wait := w.start("-p", "--model", model, "--session-id", "s", "--name", "before", "--allowed-tools", "Bash", "go")
	begun := func() bool {
		_, err := os.Stat(filepath.Join(w.dir, "begun"))
		return err == nil
	}
	until(t, "the command runs", begun)
	w.ok("rename", "before", "after")
	if out := w.ok("show", "after", "--json"); !strings.Contains(out, `"id":"s"`) {
		t.Error(out)
	}
	w.fails(exitMissing, "no session", "show", "before")
	if l := lines(t, w.ok("list", "--json")); len(l) != 1 || l[0]["title"] != "after" {
		t.Errorf("%v", l)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "end"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if wait(); o.read().code != 0 {
		t.Errorf("%+v", o.read())
	}
	w.ok("show", "after")
}
