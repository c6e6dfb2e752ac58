package knowledge

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/instructions"
	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/repo"
	"github.com/perdure/perdure/internal/test/needs"
)

// give makes a file, or a directory if text is empty, of another user.
func give(t *testing.T, uid int, path, text string) {
	t.Helper()
	var err error
	if text == "" {
		err = os.MkdirAll(path, 0o755)
	} else {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err == nil {
		err = os.Lchown(path, uid, uid)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Whoever shares a machine can put a repository, or files, into a directory that is open to everybody, such as /tmp: they
// say nothing to the sessions of others who work there or below.
func TestWhatAStrangerPutIntoAnOpenDirectorySaysNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		needs.Not(t, "only root can make the files of another user")
	}
	const stranger = 65534
	open, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.Chmod(open, 0o777|os.ModeSticky)
	}
	if err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(open, "mine")
	give(t, 0, mine, "")
	give(t, stranger, filepath.Join(open, ".git"), "")
	give(t, stranger, filepath.Join(open, ".git/HEAD"), "ref: refs/heads/theirs\n")
	give(t, stranger, filepath.Join(open, ".agent"), "")
	const words = "# Session Handoff\n\n## Goal\nTheirs\n"
	for _, name := range []string{"AGENTS.md", "HANDOFF.md", "MEMORY.md", ".agent/HANDOFF.md", ".agent/state.json"} {
		give(t, stranger, filepath.Join(open, name), words)
	}
	if got := Root(mine); got != mine {
		t.Errorf("below, the project is %s", got)
	}
	if r, err := repo.Look(t.Context(), mine); !errors.Is(err, repo.ErrNone) {
		t.Errorf("below, the repository is %+v, %v", r, err)
	}
	for _, shared := range []bool{false, true} {
		m, err := Open(Config{Home: t.TempDir(), Dir: open, InProject: shared})
		if err != nil {
			t.Fatal(err)
		}
		if all, err := m.Handoffs().All(); len(all) != 0 {
			t.Errorf("in it, shared %t: %+v, %v", shared, all, err)
		}
		if now, _, err := m.Project.Look("state.json"); now != nil || shared && !errors.Is(err, realdir.ErrStranger) {
			t.Errorf("in it, shared %t: %q, %v", shared, now, err)
		}
	}
	if b, _, err := ReadBelow(open, "AGENTS.md", 1000); b != nil || !errors.Is(err, realdir.ErrStranger) {
		t.Errorf("%q, %v", b, err)
	}
	if f, err := instructions.Of(open, open); f.Text != "" || !errors.Is(err, realdir.ErrStranger) {
		t.Errorf("%+v, %v", f, err)
	}
}

// A directory that is another user's as a whole, such as a mounted project in a container, or one of a group's, works as
// one's own.
func TestAProjectOfAnotherUserIsAProject(t *testing.T) {
	if os.Geteuid() != 0 {
		needs.Not(t, "only root can make the files of another user")
	}
	const owner, colleague = 1000, 1001
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	give(t, owner, dir, "")
	give(t, owner, filepath.Join(dir, ".git"), "")
	give(t, owner, filepath.Join(dir, "sub"), "")
	give(t, colleague, filepath.Join(dir, "AGENTS.md"), "Ours.")
	give(t, colleague, filepath.Join(dir, "HANDOFF.md"), "# Session Handoff\n\n## Goal\nOurs\n")
	if got := Root(filepath.Join(dir, "sub")); got != dir {
		t.Errorf("the project is %s", got)
	}
	m, err := Open(Config{Home: t.TempDir(), Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := m.Handoffs().All(); len(all) != 1 || err != nil {
		t.Errorf("%+v, %v", all, err)
	}
	if f, err := instructions.Of(dir, dir); f.Text != "Ours." || err != nil {
		t.Errorf("%+v, %v", f, err)
	}
}

// The journal is written in its place. Where that file is also another one, such as a shell's, nothing is added.
func TestTheJournalIsNotWrittenThroughAHardLink(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "bashrc")
	if err := os.WriteFile(other, []byte("x=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(dir, "project")
	if err := os.MkdirAll(filepath.Join(project, ".agent"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(other, filepath.Join(project, ".agent/journal.md")); err != nil {
		t.Fatal(err)
	}
	m, err := Open(Config{Home: t.TempDir(), Dir: project, InProject: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Journal().Add(t.Context(), "Decided: a; touch PWN", time.Now()); !errors.Is(err, ErrNames) {
		t.Errorf("%v", err)
	}
	if b, err := os.ReadFile(other); string(b) != "x=1\n" {
		t.Errorf("%q, %v", b, err)
	}
}
