package files_test

import (
	"os"
	"path/filepath"
	"testing"
)

// talks is a script of one turn without a call: nothing is captured in it.
const talks = `{"turns":[{"match":"only words","steps":[{"text":"Words."}]}]}`

// movedProject is a project to which a fork's changes were applied, and which was moved afterwards: its session goes on
// there.
func movedProject(t *testing.T) *project {
	t.Helper()
	p := newProject(t)
	model := p.Scripted(script(t, map[string]string{"begin": "echo one >> a", "kid": "echo two >> a; echo new > n; rm gone"}))
	p.write("a", "zero\n")
	p.write("gone", "g\n")
	p.prompt(model, "begin", "--session-id", "s")
	p.OK("fork", "s", "--id", "kid")
	p.prompt(model, "kid", "-r", "kid")
	p.OK("apply", "kid", "--yes")
	to := filepath.Join(p.Dir, "moved")
	if err := os.Rename(p.dir, to); err != nil {
		t.Fatal(err)
	}
	p.dir, p.App.Dir = to, to
	return p
}

// Goal: a directory that was moved is the same directory: what the session knows of its files holds there, so that what was
// applied before is taken back, and what somebody changed since stays.
func TestAnApplyIsTakenBackWhereItsDirectoryWasMoved(t *testing.T) {
	p := movedProject(t)
	p.prompt(p.Scripted(talks), "only words", "-r", "s", "--cwd", p.dir)
	p.write("mine", "m\n")
	p.OK("undo", "s", "--yes")
	for name, want := range map[string]string{"a": "zero\none\n", "n": "", "gone": "g\n", "mine": "m\n"} {
		holds(t, filepath.Join(p.dir, name), want)
	}
	p.OK("undo", "s", "--yes")
	holds(t, filepath.Join(p.dir, "a"), "zero\n")
}

// What was changed after the move, or in it, is somebody else's as before.
func TestWhatWasChangedInAMoveStays(t *testing.T) {
	p := movedProject(t)
	p.write("a", "mine\n")
	p.prompt(p.Scripted(talks), "only words", "-r", "s", "--cwd", p.dir)
	p.OK("undo", "s", "--yes")
	for name, want := range map[string]string{"a": "mine\n", "n": "", "gone": "g\n"} {
		holds(t, filepath.Join(p.dir, name), want)
	}
}
