package importing_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// Goal: what git ignores stayed where a session comes from. It was never here, so nobody has deleted it, and it stands
// in the way of no undo: not where the turn changed it there, and not where it lies in a directory that git ignores as
// a whole.
func TestAnUndoDoesNotMissWhatStayedElsewhere(t *testing.T) {
	w := clitest.New(t)
	project := filepath.Join(w.Dir, "project")
	clitest.WriteFile(t, filepath.Join(project, ".git", "HEAD"), "ref: refs/heads/main\n")
	clitest.WriteFile(t, filepath.Join(project, ".gitignore"), ".env\nnotes/\n")
	clitest.WriteFile(t, filepath.Join(project, ".env"), "SECRET=1\n")
	clitest.WriteFile(t, filepath.Join(project, "notes", "sub", "log"), "one\n")
	clitest.WriteFile(t, filepath.Join(project, "a"), "zero\n")
	w.App.Dir = project
	model := w.Scripted(`{"turns":[
		{"match":"first","steps":[{"text":"","tools":[{"name":"Bash","input":{"command":"echo one >> a; echo SECRET=2 > .env; echo two >> notes/sub/log"}}]},{"text":"done"}]},
		{"match":"second","steps":[{"text":"","tools":[{"name":"Bash","input":{"command":"echo two >> a"}}]},{"text":"done"}]}]}`)
	w.OK("-p", "--session-id", "s", "--dangerously-skip-permissions", "--model", model, "first")
	w.OK("-p", "-r", "s", "--dangerously-skip-permissions", "second")
	w.OK("export", "s", "-o", "x.perdure")
	home, dir := filepath.Join(t.TempDir(), "there"), filepath.Join(t.TempDir(), "dir")
	there := w.InHome(home)
	there.OK("import", filepath.Join(project, "x.perdure"), "--dir", dir)
	if diff := there.OK("diff", "s"); strings.Contains(diff, ".env") || strings.Contains(diff, "notes") {
		t.Errorf("diff: %s", diff)
	}
	there.OK("export", "s", "--with-ignored", "-o", filepath.Join(t.TempDir(), "y.perdure"))
	there.OK("restore", "s", "turn 2", "--conversation", "--yes")
	there.OK("fork", "s@"+firstTurn(t, there), "--id", "older")
	if tree := there.OK("tree", "s"); strings.Contains(tree, "1 file changed") || strings.Contains(tree, "files changed") && !strings.Contains(tree, "0 files changed") {
		t.Errorf("tree: %s", tree)
	}
	there.OK("fork", "s", "--id", "fork")
	for _, id := range []string{"s", "fork"} {
		in := dir
		if id == "fork" {
			in = filepath.Join(home, "isolated", "fork", "dir")
		}
		for _, want := range []string{"zero\none\n", "zero\n"} {
			o := there.Run("undo", id, "--yes")
			if o.Code != 0 || strings.Contains(o.Stdout+o.Stderr, ".env") || strings.Contains(o.Stdout+o.Stderr, "notes") {
				t.Errorf("%s: %+v", id, o)
			}
			if text, err := os.ReadFile(filepath.Join(in, "a")); err != nil || string(text) != want {
				t.Errorf("%s: a holds %q, want %q, %v", id, text, want, err)
			}
		}
		for _, name := range []string{".env", "notes", ".env.perdure-conflict"} {
			if _, err := os.Lstat(filepath.Join(in, name)); err == nil {
				t.Errorf("%s: %s is there", id, name)
			}
		}
	}
}

// firstTurn is the event that ended the first turn of s.
func firstTurn(t *testing.T, w *clitest.World) string {
	t.Helper()
	for _, l := range clitest.Lines(t, w.OK("log", "s", "--json")) {
		if l["kind"] == "turn.ended" {
			return fmt.Sprint(l["seq"])
		}
	}
	t.Fatal("no turn ended")
	return ""
}

// What a person has put there under such a name stays.
func TestAnUndoLeavesWhatHasTheNameOfWhatStayedElsewhere(t *testing.T) {
	w := clitest.New(t)
	project := filepath.Join(w.Dir, "project")
	clitest.WriteFile(t, filepath.Join(project, ".git", "HEAD"), "ref: refs/heads/main\n")
	clitest.WriteFile(t, filepath.Join(project, ".gitignore"), ".env\n")
	clitest.WriteFile(t, filepath.Join(project, ".env"), "SECRET=1\n")
	w.App.Dir = project
	model := w.Scripted(`{"turns":[{"match":"first","steps":[{"text":"","tools":[{"name":"Bash","input":{"command":"echo one >> a; echo SECRET=2 > .env"}}]},{"text":"done"}]}]}`)
	w.OK("-p", "--session-id", "s", "--dangerously-skip-permissions", "--model", model, "first")
	w.OK("export", "s", "-o", "x.perdure")
	there, dir := w.InHome(filepath.Join(t.TempDir(), "there")), filepath.Join(t.TempDir(), "dir")
	there.OK("import", filepath.Join(project, "x.perdure"), "--dir", dir)
	clitest.WriteFile(t, filepath.Join(dir, ".env"), "MINE=1\n")
	there.OK("undo", "s", "--yes")
	if text, err := os.ReadFile(filepath.Join(dir, ".env")); err != nil || string(text) != "MINE=1\n" {
		t.Errorf(".env holds %q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "a")); err == nil {
		t.Error("a is there")
	}
}
