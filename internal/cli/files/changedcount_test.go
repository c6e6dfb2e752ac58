package files_test

import (
	"strings"
	"testing"
)

// Goal: what the log says of how much a capture found changed is about the tree that the log had before it, however often
// somebody has looked meanwhile: the plan of an undo, or another session of the same directory.
func TestTheLogCountsWhatChangedSinceItsOwnTree(t *testing.T) {
	p := newProject(t)
	model := p.Scripted(script(t, map[string]string{"go": "echo 1 > f; echo 2 > g", "on": "echo 3 >> g"}))
	p.write("f", "0\n")
	p.write("h", "h\n")
	p.prompt(model, "go", "--session-id", "s")
	p.write("f", "mine\n")
	p.OK("undo", "s", "--dry-run") // it looks
	p.OK("undo", "s", "--yes")     // so does its plan
	p.prompt(p.Scripted(script(t, map[string]string{"on": "echo 3 > k"})), "on", "--session-id", "other")
	p.prompt(p.Scripted(script(t, map[string]string{"on": "echo 4 > l"})), "on", "-r", "s")
	var found []string
	for line := range strings.Lines(p.OK("log", "s")) {
		if _, text, ok := strings.Cut(line, " engine  "); ok && strings.Contains(line, "files.captured") {
			what, _, _ := strings.Cut(text, ", tree")
			found = append(found, what)
		}
	}
	want := "before: 2 changed of 2 files|after t1.s1.b1.a1: 2 changed of 3 files|restore: 1 changed of 3 files|before: 1 changed of 4 files|after t2.s1.b1.a1: 1 changed of 5 files"
	if got := strings.Join(found, "|"); got != want {
		t.Errorf("the log says\n%s, want\n%s", strings.ReplaceAll(got, "|", "\n"), strings.ReplaceAll(want, "|", "\n"))
	}
}
