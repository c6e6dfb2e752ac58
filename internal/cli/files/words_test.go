package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What was never kept does not come back, and a plan does not say of it that it stays: the turn has deleted it.
func TestWhatWasNotKeptDoesNotStay(t *testing.T) {
	p := newProject(t)
	if err := os.Mkdir(filepath.Join(p.dir, "node_modules"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.write("node_modules/dep.js", "1\n")
	p.write("f", "1\n")
	p.run(p.Scripted(script(t, map[string]string{"clean": "rm -r node_modules f"})), "clean")
	out := p.OK("undo", "s", "--yes")
	if strings.Contains(out, "node_modules stays") || !strings.Contains(out, "= node_modules does not come back") {
		t.Errorf("it says %q", out)
	}
}

// Where the files are not kept, an undo says why, not that nothing was changed: a turn has changed some.
func TestUndoSaysWhyNothingIsKept(t *testing.T) {
	p := newProject(t)
	p.Configure("[files]\nmax_files = 1\n")
	p.write("a", "1\n")
	p.write("b", "1\n")
	p.run(p.Scripted(script(t, map[string]string{"clean": "rm a b; touch c d e"})), "clean")
	p.Fails(4, "over 1 files", "undo", "s", "--yes")
}

// The name of the directory is data: its escape sequences and line ends do not reach a terminal.
func TestADirectorysNameIsShownPlain(t *testing.T) {
	p := newProject(t)
	p.dir = filepath.Join(p.Dir, "odd\x1b[31m\nname")
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p.App.Dir = p.dir
	p.write("f", "1\n")
	p.run(p.Scripted(script(t, map[string]string{"change": "echo 2 > f"})), "change")
	for _, out := range []string{p.OK("checkpoint", "s", "x"), p.OK("undo", "s", "--dry-run")} {
		if strings.Contains(out, "\x1b") || strings.Contains(out, "\nname") {
			t.Errorf("it shows %q", out)
		}
	}
}
