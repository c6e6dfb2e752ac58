package files_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
	"github.com/perdure/perdure/internal/test/needs"
)

// gitIn runs git for the set-up of a test. Filters and hooks of the test would say so if git ran them here.
func (p *project) gitIn(dir string, args ...string) string {
	p.T.Helper()
	c := exec.CommandContext(p.T.Context(), "git", append([]string{"-C", filepath.Join(p.dir, dir), "-c", "protocol.file.allow=always"}, args...)...)
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.Dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z",
	}
	out, err := c.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && (!ended || !slices.Contains([]string{"merge", "rebase", "cherry-pick", "revert"}, args[0])) { //nolint:errorlint // of exec itself
		p.T.Fatalf("git %q: %v: %s", args, err, out)
	}
	return string(out)
}

// repository makes one with two commits, one of them on another branch that meets the first in a conflict.
func (p *project) repository(dir string) {
	p.T.Helper()
	p.write(filepath.Join(dir, "a.txt"), "at first\n")
	p.gitIn(dir, "init", "-q", "-b", "main", ".")
	p.write(filepath.Join(dir, "b.txt"), "b\n")
	p.gitIn(dir, "add", ".")
	p.gitIn(dir, "commit", "-qm", "one")
	p.gitIn(dir, "checkout", "-qb", "side")
	p.write(filepath.Join(dir, "a.txt"), "of the side\n")
	p.gitIn(dir, "commit", "-qam", "side")
	p.gitIn(dir, "checkout", "-q", "main")
	p.write(filepath.Join(dir, "a.txt"), "of the main line\n")
	p.gitIn(dir, "commit", "-qam", "two")
}

// gits is the digest of every file in git's own directories below a directory: those that are named so, and those that
// tests name elsewhere.
func (p *project) gits(others ...string) string {
	p.T.Helper()
	var out []string
	note := func(path string, e fs.DirEntry) error {
		info, err := e.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %s %d %d", path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %x", sha256.Sum256(b))
		case info.Mode()&os.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " " + to
		}
		out = append(out, line)
		return nil
	}
	all := func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return note(path, e)
	}
	err := filepath.WalkDir(p.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != ".git" {
			return err
		}
		if err := filepath.WalkDir(path, all); err != nil || !e.IsDir() {
			return err
		}
		return fs.SkipDir
	})
	for _, other := range others {
		if err == nil {
			err = filepath.WalkDir(filepath.Join(p.Dir, other), all)
		}
	}
	if err != nil {
		p.T.Fatal(err)
	}
	return strings.Join(out, "\n")
}

// traps gives a repository hooks, filters and helpers that leave a trace when anybody runs them.
func (p *project) traps(config, hooks string) (trace string) {
	p.T.Helper()
	trace = filepath.Join(p.Dir, "ran")
	f, err := os.OpenFile(config, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		p.T.Fatal(err)
	}
	run := "touch " + trace
	_, err = fmt.Fprintf(f, "[core]\n\tfsmonitor = %q\n\tsshCommand = %q\n\tpager = %q\n[filter \"trap\"]\n\tclean = %q\n\tsmudge = %q\n\trequired = true\n[diff \"trap\"]\n\ttextconv = %q\n\tcommand = %q\n[alias]\n\tstatus = \"!%s\"\n", run, run, run, run, run, run, run, run)
	if cerr := f.Close(); err != nil || cerr != nil {
		p.T.Fatal(err, cerr)
	}
	for _, name := range []string{"post-checkout", "pre-commit", "post-index-change", "reference-transaction", "post-merge", "pre-auto-gc"} {
		path := filepath.Join(hooks, name)
		clitest.WriteFile(p.T, path, "#!/bin/sh\n"+run+"\n")
		if err := os.Chmod(path, 0o700); err != nil { //nolint:gosec // a hook is a program
			p.T.Fatal(err)
		}
	}
	return trace
}

// Goal: whatever repositories a directory has in it, and in whatever state they are, their files are captured, compared and
// brought back like all others, git's own files are never touched, and nothing of a repository runs.
func TestRepositoriesOfEveryKind(t *testing.T) {
	needs.Program(t, "git")
	gone := func(p *project, path string) {
		if err := os.RemoveAll(filepath.Join(p.dir, path)); err != nil {
			p.T.Fatal(err)
		}
	}
	rename := func(p *project, from, to string) {
		if err := os.Rename(filepath.Join(p.dir, from), to); err != nil {
			p.T.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		make   func(p *project)
		in     string // where its files are
		config string // of the repository that has the traps, below the user's home
		others []string
	}{
		"a repository": {make: func(p *project) { p.repository(".") }, config: "project/.git"},
		"a submodule": {make: func(p *project) {
			p.repository(".")
			p.repository("../lib")
			p.gitIn(".", "submodule", "add", "-q", "../lib", "sub")
			p.gitIn(".", "commit", "-qm", "sub")
		}, in: "sub", config: "project/.git/modules/sub"},
		"a nested repository": {make: func(p *project) { p.repository("."); p.repository("deep/nested") }, in: "deep/nested", config: "project/deep/nested/.git"},
		"a linked worktree": {make: func(p *project) {
			gone(p, ".")
			p.repository("../origin")
			p.gitIn("../origin", "worktree", "add", "-q", "../project", "side")
		}, config: "origin/.git"},
		"a worktree inside": {make: func(p *project) {
			p.repository(".")
			p.gitIn(".", "worktree", "add", "-q", "trees/side", "side")
		}, in: "trees/side", config: "project/.git"},
		"a bare one in it": {make: func(p *project) {
			p.repository("work")
			p.gitIn(".", "clone", "-q", "--bare", "work", "bare.git")
		}, in: "work", config: "project/bare.git", others: []string{"project/bare.git"}},
		"in the midst of a merge":  {make: func(p *project) { p.repository("."); p.gitIn(".", "merge", "-q", "side") }, config: "project/.git"},
		"in the midst of a rebase": {make: func(p *project) { p.repository("."); p.gitIn(".", "rebase", "-q", "side") }, config: "project/.git"},
		"behind a link": {make: func(p *project) {
			p.repository(".")
			rename(p, ".git", filepath.Join(p.Dir, "elsewhere.git"))
			if err := os.Symlink("../elsewhere.git", filepath.Join(p.dir, ".git")); err != nil {
				p.T.Fatal(err)
			}
		}, config: "elsewhere.git", others: []string{"elsewhere.git"}},
		"with objects of another": {make: func(p *project) {
			p.repository("../origin")
			p.gitIn("..", "clone", "-q", "--shared", "origin", "project/clone")
		}, in: "clone", config: "project/clone/.git"},
		"with a worktree elsewhere": {make: func(p *project) {
			p.repository(".")
			if err := os.Mkdir(filepath.Join(p.Dir, "other"), 0o700); err != nil {
				p.T.Fatal(err)
			}
			p.gitIn(".", "config", "core.worktree", filepath.Join(p.Dir, "other"))
		}, config: "project/.git"},
		"with damage": {make: func(p *project) {
			p.repository(".")
			p.write(".git/HEAD", "ref: ../../../../etc/passwd\n")
			p.write(".git/index", "DIRC\x00\x00\x00\x02\xff\xff\xff\xff")
		}, config: "project/.git"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			c.make(p)
			p.write(filepath.Join(c.in, ".gitattributes"), "* filter=trap diff=trap\n")
			trace := p.traps(filepath.Join(p.Dir, c.config, "config"), filepath.Join(p.Dir, c.config, "hooks"))
			m := p.Scripted(script(t, map[string]string{"go": "cd ./" + c.in + " && rm b.txt && echo session >a.txt && mkdir new && echo new >new/n.txt"}))
			start, git := p.files(), p.gits(c.others...)
			p.run(m, "go")
			after := p.files()
			p.OK("checkpoint", "s", "done")
			out := p.OK("diff", "s", "turn 1", "--stat")
			at := strings.TrimPrefix(c.in+"/", "/")
			for _, line := range []string{"modified " + at + "a.txt", "deleted  " + at + "b.txt", "added    " + at + "new/n.txt"} {
				if !strings.Contains(out, line) {
					t.Errorf("%q is not in the comparison:\n%s", line, out)
				}
			}
			p.OK("diff", "s", "turn 1")
			p.OK("undo", "s", "--yes")
			p.same("undone", start)
			p.OK("restore", "s", "done", "--files", "--yes")
			p.same("restored", after)
			p.OK("undo", "s", "--yes")
			p.same("undone again", start)
			if now := p.gits(c.others...); now != git {
				t.Errorf("git's own files were changed:\n%s\n\n%s", git, now)
			}
			if _, err := os.Lstat(trace); err == nil {
				t.Error("something of the repository ran")
			}
		})
	}
}
