package files_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// What commands write, change, move and delete comes back: step by step by undo, to a named moment by restore, with
// modes, links and empty directories; and what was there before a restore comes back as well.
func TestCommandsAreUndone(t *testing.T) {
	p := newProject(t)
	p.write("kept.txt", "kept\n")
	p.write("doomed.txt", "doomed\n")
	p.write("run.sh", "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(p.dir, "run.sh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(p.dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("kept.txt", filepath.Join(p.dir, "link")); err != nil {
		t.Fatal(err)
	}
	m := p.Scripted(script(t, map[string]string{
		"first":  "rm doomed.txt run.sh link; rmdir empty; mkdir -p new/deep; echo 1 > new/deep/file; echo more >> kept.txt",
		"second": "mv kept.txt moved.txt; rm -r new",
	}))
	start := p.files()
	p.run(m, "first")
	after := p.files()
	if out := p.OK("checkpoint", "s", "--name", "good"); !strings.Contains(out, "checkpoint good") {
		t.Error(out)
	}
	p.run(m, "second")
	last := p.files()

	o := p.Run("undo", "s")
	if o.Code == 0 || !strings.Contains(o.Stdout, "+ kept.txt") || !strings.Contains(o.Stdout, "- moved.txt") || !strings.Contains(o.Stderr, "--yes") {
		t.Errorf("without a terminal: %+v", o)
	}
	p.same("nothing was changed", last)
	p.OK("undo", "s", "--dry-run")
	p.same("a look changes nothing", last)
	p.OK("undo", "s", "--yes")
	p.same("the second turn is undone", after)
	p.OK("undo", "s", "--yes")
	p.same("the first turn is undone", start)
	p.Fails(4, "no turn has changed a file", "undo", "s", "--yes")
	p.same("there is nothing more to undo", start)
	p.OK("restore", "s", "good", "--files", "--yes")
	p.same("the checkpoint", after)
	p.OK("undo", "s", "--yes")
	p.same("the restore is undone", start)
	p.OK("verify", "s")
}

// What a person changed meanwhile stays: between turns, after the last one, and where the session had changed the same
// file, when the wanted version lies beside it.
func TestOwnEditsStay(t *testing.T) {
	p := newProject(t)
	p.write("both.txt", "at first\n")
	p.write("mine.txt", "mine\n")
	m := p.Scripted(script(t, map[string]string{"first": "echo session > both.txt; echo x > theirs.txt", "second": "echo y > other.txt"}))
	p.run(m, "first")
	p.write("mine.txt", "edited between the turns\n")
	p.run(m, "second")
	p.write("both.txt", "edited after the last turn\n")
	p.OK("undo", "s", "--yes")
	if _, err := os.Stat(filepath.Join(p.dir, "other.txt")); err == nil {
		t.Error("the second turn is not undone")
	}
	o := p.Run("undo", "s", "--yes")
	got := p.files()
	if got["mine.txt"] != "-rw------- edited between the turns\n" || got["both.txt"] != "-rw------- edited after the last turn\n" {
		t.Errorf("own edits: %v", got)
	}
	if got["both.txt.perdure-conflict"] != "-rw------- at first\n" || got["theirs.txt"] != "" || o.Code != 0 || !strings.Contains(o.Stdout, "= both.txt stays") {
		t.Errorf("%s%v", o.Stdout, got)
	}
	_, hint, ok := strings.Cut(o.Stderr, "perdure restore s ")
	if event, _, _ := strings.Cut(hint, " "); ok {
		p.OK("restore", "s", event, "--files", "--force", "--path", "both.txt", "--yes")
	}
	if got := p.files(); !ok || got["both.txt"] != "-rw------- at first\n" || got["mine.txt"] != "-rw------- edited between the turns\n" {
		t.Errorf("by force: %v\n%s", got, o.Stderr)
	}
}

// Two sessions in one directory: undoing one's work leaves the other's.
func TestUndoLeavesAnotherSessionsWork(t *testing.T) {
	p := newProject(t)
	p.write("shared.txt", "at first\n")
	m := p.Scripted(script(t, map[string]string{"first": "echo a > a.txt", "other": "echo b > b.txt; echo b >> shared.txt"}))
	p.run(m, "first")
	p.OK("-p", "--session-id", "o", "--dangerously-skip-permissions", "--model", m, "other")
	p.OK("undo", "s", "--yes")
	got := p.files()
	if got["a.txt"] != "" || got["b.txt"] == "" || got["shared.txt"] != "-rw------- at first\nb\n" {
		t.Errorf("after undoing s: %v", got)
	}
}

// Only what is named is restored, and everything is told in JSON.
func TestRestoreOfPathsInJSON(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "a\n")
	p.write("d/b.txt", "b\n")
	m := p.Scripted(script(t, map[string]string{"first": "echo 1 > a.txt; echo 1 > d/b.txt"}))
	p.run(m, "first")
	var done struct {
		Done     bool
		Modified int
	}
	if err := json.Unmarshal([]byte(p.OK("restore", "s", "turn 1", "--files", "--yes", "--json", "--path", "d")), &done); err != nil || !done.Done || done.Modified != 1 {
		t.Errorf("%+v %v", done, err)
	}
	if got := p.files(); got["a.txt"] != "-rw------- 1\n" || got["d/b.txt"] != "-rw------- b\n" {
		t.Errorf("%v", got)
	}
	p.Fails(2, "no path below", "restore", "s", "turn 1", "--files", "--yes", "--path", "../x")
	p.Fails(2, "--conversation", "restore", "s", "turn 1", "--yes")
	p.Fails(4, "no checkpoint", "restore", "s", "nothing", "--files", "--yes")
	var list []struct{ Name string }
	p.OK("checkpoint", "s", "one")
	if err := json.Unmarshal([]byte(p.OK("checkpoint", "s", "--list", "--json")), &list); err != nil || len(list) == 0 || list[len(list)-1].Name != "one" {
		t.Errorf("%+v %v", list, err)
	}
	p.Fails(1, "there is a checkpoint one", "checkpoint", "s", "one")
	p.Fails(2, "not a number", "checkpoint", "s", "--name", "12")
}

// diff shows what undo would take back, what lies between two moments, and how two sessions differ.
func TestDiff(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "one\ntwo\n")
	m := p.Scripted(script(t, map[string]string{"first": "echo three >> a.txt; printf 'x\\033[31m' > esc.txt; head -c 3000 /dev/zero > bin", "second": "rm a.txt"}))
	p.run(m, "first")
	p.OK("checkpoint", "s", "good")
	out := p.OK("diff", "s")
	if !strings.Contains(out, "+three") || !strings.Contains(out, "added bin") || !strings.Contains(out, "no text") || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
	p.run(m, "second")
	if out := p.OK("diff", "s", "--stat"); !strings.Contains(out, "deleted  a.txt  +0 -3") || strings.Contains(out, "bin") {
		t.Error(out)
	}
	if out := p.OK("diff", "s", "turn 1", "good", "--path", "a.txt"); !strings.Contains(out, "+three") || strings.Contains(out, "bin") {
		t.Error(out)
	}
	var j struct {
		Files []struct{ Path, What string }
	}
	if err := json.Unmarshal([]byte(p.OK("diff", "s", "good", "--json")), &j); err != nil || len(j.Files) != 1 || j.Files[0].What != "deleted" {
		t.Errorf("%+v %v", j, err)
	}
}

// A session in the user's home is told once that its files are not kept, and why; so is who asks for a checkpoint.
func TestHomeIsNotCaptured(t *testing.T) {
	w := clitest.New(t)
	m := w.Scripted(script(t, map[string]string{"first": "echo 1 > a.txt"}))
	o := w.Run("-p", "--session-id", "s", "--dangerously-skip-permissions", "--model", m, "first")
	if o.Code != 0 || strings.Count(o.Stderr, "your home directory") != 1 {
		t.Errorf("%+v", o)
	}
	w.Fails(1, "your home directory", "checkpoint", "s", "x")
	w.Fails(4, "is your home directory", "undo", "s", "--yes")
	w.Configure("[files]\ncapture = false\n")
	w.Fails(1, "files are not captured", "checkpoint", "s", "y")
}

// A fork has its parent's moments and a directory of its own: undo names that directory, and works there alone.
func TestUndoInAForkNamesItsOwnDirectory(t *testing.T) {
	p := newProject(t)
	p.write("a.txt", "at first\n")
	p.run(p.Scripted(script(t, map[string]string{"first": "echo changed > a.txt"})), "first")
	child := strings.TrimSpace(p.OK("fork", "s"))
	if out := p.OK("undo", child, "--yes"); strings.Contains(out, "~/project,") || !strings.Contains(out, filepath.Join("isolated", child)) {
		t.Error(out)
	}
	if got := p.files(); got["a.txt"] != "-rw------- changed\n" {
		t.Errorf("the parent's file is %q", got["a.txt"])
	}
}
