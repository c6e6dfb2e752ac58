package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/test/needs"
)

// forked is a project in a repository with a submodule, and a fork of it that has made a commit.
func forked(t *testing.T) (p *project, model, own string) {
	t.Helper()
	needs.Program(t, "git")
	p = newProject(t)
	p.repository(".")
	p.repository("../lib")
	p.gitIn(".", "submodule", "add", "-q", "../lib", "sub")
	p.gitIn(".", "commit", "-qm", "sub")
	p.write("staged", "s\n")
	p.gitIn(".", "add", "staged")
	model = p.Scripted(script(t, map[string]string{"work": "echo w >> a.txt; git -c user.name=n -c user.email=e@x commit -qam work; echo w > new; echo w > sub/new", "nothing": "true"}))
	p.prompt(model, "work", "--isolate", "--session-id", "kid")
	return p, model, p.ownDir("kid")
}

// Whoever removes the worktree of a fork, by any of git's ways or by none, is told so when the session goes on, and
// gets it back with --files restore: its files, and git that works in it, with the fork's own commit where the
// repository still has it.
func TestAWorktreeThatIsGoneIsMadeAgain(t *testing.T) {
	for name, c := range map[string]struct {
		lose   func(p *project, own string)
		commit bool // the fork's own is still known
		there  bool // the directory is
	}{
		"rm -rf": {lose: func(p *project, own string) { p.removeAll(own) }, commit: true},
		"git worktree remove": {lose: func(p *project, own string) {
			p.gitIn("sub", "worktree", "remove", "--force", filepath.Join(own, "sub"))
			p.gitIn(".", "worktree", "remove", "--force", own)
		}},
		"git worktree prune": {lose: func(p *project, own string) {
			p.removeAll(own)
			p.gitIn(".", "worktree", "prune")
			p.gitIn("sub", "worktree", "prune")
		}},
		"rm of what git knows": {lose: func(p *project, _ string) {
			p.removeAll(filepath.Join(p.dir, ".git/worktrees"))
			p.removeAll(filepath.Join(p.dir, ".git/modules/sub/worktrees"))
		}, there: true},
		"rm of .git": {lose: func(p *project, own string) { p.removeAll(filepath.Join(own, ".git")) }, commit: true, there: true},
	} {
		t.Run(name, func(t *testing.T) {
			p, model, own := forked(t)
			files, head := filesIn(t, own), gitIn(t, own, "rev-parse", "HEAD")
			c.lose(p, own)
			o := p.Run("-p", "--dangerously-skip-permissions", "--model", model, "-r", "kid", "nothing")
			if told := "which is gone"; !c.there && (o.Code == 0 || !strings.Contains(o.Stderr, told) || !strings.Contains(o.Stderr, "--files restore")) {
				t.Errorf("exit %d: %s", o.Code, o.Stderr)
			}
			if name == "rm of what git knows" && (!strings.Contains(o.Stderr, "git does not work in ") || !strings.Contains(o.Stderr, "--files restore")) {
				t.Errorf("exit %d: %s", o.Code, o.Stderr)
			}
			o = p.Run("-p", "--dangerously-skip-permissions", "--model", model, "-r", "kid", "--files", "restore", "nothing")
			if !strings.Contains(o.Stderr, own+" is a git worktree again") || strings.Contains(o.Stderr, "not there") {
				t.Errorf("exit %d: %s", o.Code, o.Stderr)
			}
			differ(t, "the fork's files", filesIn(t, own), files)
			if c.commit != (gitIn(t, own, "rev-parse", "HEAD") == head) {
				t.Errorf("the fork is at %s, was at %s", gitIn(t, own, "rev-parse", "HEAD"), head)
			}
			if got := gitIn(t, filepath.Join(own, "sub"), "status", "--porcelain"); got != "?? new\n" {
				t.Errorf("git says in the submodule: %q", got)
			}
			if got := gitIn(t, own, "status", "--porcelain"); !strings.Contains(got, "?? new\n") || !c.commit && !strings.Contains(got, "A  staged\n") {
				t.Errorf("git says %q", got)
			}
			p.OK("delete", "kid", "--yes")
			p.noWorktrees()
		})
	}
}

// A project that is made again has no repository any more: that is said.
func TestAProjectThatIsMadeAgainLacksItsRepository(t *testing.T) {
	needs.Program(t, "git")
	p := newProject(t)
	p.repository(".")
	model := p.Scripted(script(t, map[string]string{"work": "echo w >> a.txt", "nothing": "true"}))
	p.run(model, "work")
	p.removeAll(p.dir)
	p.App.Dir = p.Dir
	o := p.Run("-p", "--dangerously-skip-permissions", "--model", model, "-r", "s", "--files", "restore", "nothing")
	if !strings.Contains(o.Stderr, "not there: .git") {
		t.Errorf("exit %d: %s", o.Code, o.Stderr)
	}
	holds(t, filepath.Join(p.dir, "a.txt"), "of the main line\nw\n")
}

// A repository that was moved is not where its worktrees look for it: that is said, with git's own way back, and a fork
// that was repaired by it is deleted without a trace in the new place.
func TestAWorktreeOfARepositoryThatWasMoved(t *testing.T) {
	p, model, own := forked(t)
	to := filepath.Join(p.Dir, "moved")
	if err := os.Rename(p.dir, to); err != nil {
		t.Fatal(err)
	}
	p.dir = to
	p.App.Dir = to
	for _, more := range [][]string{nil, {"--files", "restore"}} {
		o := p.Run(append([]string{"-p", "--dangerously-skip-permissions", "--model", model, "-r", "kid", "nothing"}, more...)...)
		if !strings.Contains(o.Stderr, "git does not work in "+own) || !strings.Contains(o.Stderr, "git -C NEWPLACE worktree repair") {
			t.Errorf("%q: exit %d: %s", more, o.Code, o.Stderr)
		}
	}
	p.gitIn(".", "worktree", "repair", own)
	p.gitIn("sub", "worktree", "repair", filepath.Join(own, "sub"))
	if o := p.Run("-p", "--dangerously-skip-permissions", "--model", model, "-r", "kid", "nothing"); strings.Contains(o.Stderr, "git does not work") {
		t.Errorf("exit %d: %s", o.Code, o.Stderr)
	}
	gitIn(t, own, "status")
	p.OK("delete", "kid", "--yes")
	p.noWorktrees()
}

func (p *project) removeAll(path string) {
	p.T.Helper()
	if err := os.RemoveAll(path); err != nil {
		p.T.Fatal(err)
	}
}

// noWorktrees fails if the project's repository, or its submodule, knows a worktree of a session's.
func (p *project) noWorktrees() {
	p.T.Helper()
	for _, dir := range []string{".", "sub"} {
		if list := p.gitIn(dir, "worktree", "list"); strings.Contains(list, "isolated") {
			p.T.Errorf("%s has\n%s", dir, list)
		}
	}
}

// Whoever removes all that Perdure has of a fork's directory gets it back, too, as it was made: a worktree with its
// submodules, of which it is known what it was made from, and which is deleted without a trace.
func TestAForkWhoseWholeDirectoryIsGoneIsMadeAgain(t *testing.T) {
	p, model, _ := forked(t)
	p.run(model, "work")
	p.OK("fork", "s", "--id", "fork")
	own := p.ownDir("fork")
	files := filesIn(t, own)
	p.removeAll(filepath.Dir(own))
	o := p.Run("-p", "--dangerously-skip-permissions", "--model", model, "-r", "fork", "--files", "restore", "nothing")
	if !strings.Contains(o.Stderr, own+" is a git worktree again") || !strings.Contains(o.Stderr, filepath.Join(own, "sub")+" is a git worktree again") {
		t.Errorf("exit %d: %s", o.Code, o.Stderr)
	}
	differ(t, "the fork's files", filesIn(t, own), files)
	if b, err := os.ReadFile(filepath.Join(filepath.Dir(own), ".origin")); err != nil || !strings.Contains(string(b), `"from":"`+p.dir+`"`) {
		t.Errorf("what it was made from is not known: %s, %v", b, err)
	}
	p.OK("delete", "fork", "kid", "--yes")
	p.noWorktrees()
}
