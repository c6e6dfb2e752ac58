package files_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/test/needs"
)

// repoKind is a repository in some state.
type repoKind struct {
	make  func(p *project)
	git   string // its git directory, below the user's home; empty: project/.git
	plain string // why a copy of it is no worktree
	lacks string // what is under way and is not in the copy
	inner string // a repository within
}

// repoKinds are the states in which people have repositories.
var repoKinds = map[string]repoKind{
	"with changes": {make: func(p *project) {
		p.repository(".")
		p.write("staged", "s\n")
		p.gitIn(".", "add", "staged")
		p.write("a.txt", "not staged\n")
		p.write("untracked", "u\n")
		p.write(".env", "KEY=1\n")
		p.write(".gitignore", ".env\n")
		p.remove("b.txt")
	}},
	"in a merge":       {make: func(p *project) { p.repository("."); p.gitIn(".", "merge", "-q", "side") }},
	"in a cherry-pick": {make: func(p *project) { p.repository("."); p.gitIn(".", "cherry-pick", "side") }},
	"in a revert":      {make: func(p *project) { p.repository("."); p.gitIn(".", "revert", "--no-edit", "main~1") }},
	"in a rebase":      {make: func(p *project) { p.repository("."); p.gitIn(".", "rebase", "-q", "side") }, lacks: "the rebase that is under way"},
	"in a bisect":      {make: func(p *project) { p.repository("."); p.gitIn(".", "bisect", "start") }, lacks: "the bisect that is under way"},
	"in a sequence": {make: func(p *project) {
		p.repository(".")
		p.gitIn(".", "checkout", "-q", "side")
		p.write("c.txt", "c\n")
		p.gitIn(".", "add", ".")
		p.gitIn(".", "commit", "-qm", "c")
		p.gitIn(".", "checkout", "-q", "main")
		p.gitIn(".", "cherry-pick", "side~1", "side")
	}, lacks: "the commits that are still to be picked"},
	"with a submodule": {make: func(p *project) {
		p.repository(".")
		p.repository("../lib")
		p.gitIn(".", "submodule", "add", "-q", "../lib", "sub")
		p.gitIn(".", "commit", "-qm", "sub")
		p.write("sub/a.txt", "changed\n")
		p.write("sub/new", "n\n")
	}, inner: "sub"},
	"with a submodule that is not there": {make: func(p *project) {
		p.repository("../origin")
		p.repository("../lib")
		p.gitIn("../origin", "submodule", "add", "-q", "../lib", "sub")
		p.gitIn("../origin", "commit", "-qm", "sub")
		p.gitIn("..", "clone", "-q", "origin", "project")
	}},
	"with one inside": {make: func(p *project) {
		p.repository(".")
		p.repository("deep/inside")
		p.write("deep/inside/a.txt", "changed\n")
	}, inner: "deep/inside"},
	"with a worktree inside": {make: func(p *project) {
		p.repository(".")
		p.gitIn(".", "worktree", "add", "-q", "trees/side", "side")
		p.write("trees/side/a.txt", "changed\n")
	}, inner: "trees/side"},
	"beside others": {make: func(p *project) { p.repository("one"); p.write("one/a.txt", "changed\n") }, git: "project/one/.git", inner: "one"},
	"a worktree": {make: func(p *project) {
		p.repository("../origin")
		p.gitIn("../origin", "worktree", "add", "-q", "../project", "side")
		p.write("a.txt", "changed\n")
	}, git: "origin/.git"},
	"a worktree that is moved along": {make: func(p *project) {
		p.repository("../origin")
		p.gitIn("../origin", "worktree", "add", "-q", "../project", "side")
		p.write(".git", "gitdir: ../origin/.git/worktrees/project\n")
	}, git: "origin/.git"},
	"a worktree of a bare one": {make: func(p *project) {
		p.repository("../origin")
		p.gitIn("..", "clone", "-q", "--bare", "origin", "bare.git")
		p.gitIn("../bare.git", "worktree", "add", "-q", "../project", "main")
	}, git: "bare.git"},
	"on no branch": {make: func(p *project) { p.repository("."); p.gitIn(".", "checkout", "-q", "--detach", "side") }},
	"shallow": {make: func(p *project) {
		p.repository("../origin")
		p.gitIn("..", "clone", "-q", "--depth", "1", "file://"+p.Dir+"/origin", "project")
	}},
	"partial": {make: func(p *project) {
		p.repository("../origin")
		p.gitIn("../origin", "config", "uploadpack.allowFilter", "true")
		p.gitIn("..", "clone", "-q", "--filter=blob:none", "file://"+p.Dir+"/origin", "project")
	}},
	"with objects of another": {make: func(p *project) {
		p.repository("../origin")
		p.gitIn("..", "clone", "-q", "--shared", "origin", "project")
	}},
	"sparse":              {make: func(p *project) { sparse(p, "--no-sparse-index") }},
	"with a sparse index": {make: func(p *project) { sparse(p, "--sparse-index") }},
	"without a commit": {make: func(p *project) {
		p.gitIn(".", "init", "-q")
		p.write("a.txt", "a\n")
		p.gitIn(".", "add", ".")
	}, plain: "there is no commit yet"},
	"on a branch without a commit": {make: func(p *project) { p.repository("."); p.gitIn(".", "checkout", "-q", "--orphan", "fresh") }, plain: "there is no commit yet"},
	"with long hashes": {make: func(p *project) {
		p.gitIn(".", "init", "-q", "--object-format=sha256")
		p.write("a.txt", "a\n")
		p.gitIn(".", "add", ".")
		p.gitIn(".", "commit", "-qm", "one")
		p.write("a.txt", "changed\n")
	}},
	"with a file that is to be added": {make: func(p *project) { p.repository("."); p.write("new", "n\n"); p.gitIn(".", "add", "-N", "new") }},
	"with files that git is not to look at": {make: func(p *project) {
		p.repository(".")
		p.gitIn(".", "update-index", "--assume-unchanged", "a.txt")
		p.gitIn(".", "update-index", "--skip-worktree", "b.txt")
		p.write("a.txt", "changed\n")
		p.write("b.txt", "changed\n")
	}},
	"that something has locked": {make: func(p *project) {
		p.repository(".")
		p.write("staged", "s\n")
		p.gitIn(".", "add", "staged")
		p.write(".git/index.lock", "")
	}},
	"with an index in two files": {make: func(p *project) {
		p.repository(".")
		p.gitIn(".", "config", "core.splitIndex", "true")
		p.gitIn(".", "update-index", "--split-index")
		p.write("staged", "s\n")
		p.gitIn(".", "add", "staged")
		p.write("a.txt", "changed\n")
	}},
	"with other line ends": {make: func(p *project) {
		p.gitIn(".", "init", "-q")
		p.gitIn(".", "config", "core.autocrlf", "true")
		p.write("a.txt", "one\r\ntwo\r\n")
		p.gitIn(".", "add", ".")
		p.gitIn(".", "commit", "-qm", "one")
	}},
	"with odd names": {make: func(p *project) {
		p.repository(".")
		for _, name := range []string{"with space", "new\nline", "no\xffutf8", "d \xfe/f", "A.TXT", "-x", "[a]*?"} {
			p.write(name, name)
		}
		if err := os.Symlink("/etc/passwd", filepath.Join(p.dir, "link")); err != nil {
			p.T.Fatal(err)
		}
		p.gitIn(".", "add", ".")
		p.gitIn(".", "commit", "-qm", "names")
		p.write("new\nline", "changed")
		if err := os.Chmod(filepath.Join(p.dir, "with space"), 0o700); err != nil { //nolint:gosec // that git is to see
			p.T.Fatal(err)
		}
	}},
	"elsewhere": {make: func(p *project) {
		p.repository("../origin")
		p.gitIn("..", "clone", "-q", "--separate-git-dir="+p.Dir+"/elsewhere.git", "origin", "project")
	}, git: "elsewhere.git"},
}

func sparse(p *project, index string) {
	p.repository(".")
	p.write("x/y", "y\n")
	p.write("z/y", "y\n")
	p.gitIn(".", "add", ".")
	p.gitIn(".", "commit", "-qm", "more")
	p.gitIn(".", "sparse-checkout", "set", index, "x")
	p.write("x/y", "changed\n")
}

func (p *project) remove(name string) {
	p.T.Helper()
	if err := os.RemoveAll(filepath.Join(p.dir, name)); err != nil {
		p.T.Fatal(err)
	}
}

// statusIn is what git says of a directory, but for the branch.
func (p *project) statusIn(dir string) string {
	p.T.Helper()
	var out []string
	for line := range strings.Lines(gitIn(p.T, dir, "status", "--ignored")) {
		if !slices.ContainsFunc([]string{"On branch", "HEAD detached", "Not currently", "Your branch"}, func(s string) bool { return strings.HasPrefix(line, s) }) {
			out = append(out, line)
		}
	}
	return strings.TrimSpace(strings.Join(out, "")) + "\n" + gitIn(p.T, dir, "status", "--porcelain=v2")
}

// filesIn are the files in a directory without git's own, with what they hold.
func filesIn(t *testing.T, top string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == top {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(path, top+"/")
		switch {
		case e.Name() == ".git" && e.IsDir():
			return fs.SkipDir
		case e.Name() == ".git":
		case e.Type() == fs.ModeSymlink:
			out[rel], err = os.Readlink(path)
		case e.IsDir():
			out[rel] = "directory"
		default:
			var b []byte
			b, err = os.ReadFile(path)
			out[rel] = info.Mode().String() + " " + string(b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// gitFiles are git's own files below the user's home with their digests and times, outside of Perdure's home. A
// directory is there or not: that something came and went in it is no change.
func (p *project) gitFiles() map[string]string {
	p.T.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(p.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == p.Home {
			return errorOrSkip(err, path == p.Home)
		}
		if !strings.Contains(path+"/", ".git/") {
			return nil
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			out[path] = e.Type().String()
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = fmt.Sprintf("%s %d %x", info.Mode(), info.ModTime().UnixNano(), sha256.Sum256(b))
		return err
	})
	if err != nil {
		p.T.Fatal(err)
	}
	return out
}

func errorOrSkip(err error, skip bool) error {
	if err == nil && skip {
		return fs.SkipDir
	}
	return err
}

func differ(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s: %q is %.300q, want %.300q", what, name, got[name], text)
		}
	}
	for name, text := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %q is there: %.300q", what, name, text)
		}
	}
}

// A fork of a repository has its files, in whatever state it is, and git says of them what it says of the original; what is
// under way and cannot be carried on in the fork is named. Nothing of the repository runs. When the fork is deleted, each
// file of git's is what it was.
func TestAForkOfARepositoryInEveryState(t *testing.T) {
	needs.Program(t, "git")
	for name, c := range repoKinds {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			c.make(p)
			model := p.Scripted(`{"turns":[{"match":"hello","steps":[{"text":"hello"}]}]}`)
			p.prompt(model, "hello", "--session-id", "s")
			status := c.status(p, p.dir)
			files, git := filesIn(t, p.dir), p.gitFiles()
			var own struct {
				Dir, Plain string
				Worktree   bool
				Lacks      []string
			}
			if err := json.Unmarshal([]byte(p.OK("fork", "s", "--id", "kid", "--json")), &own); err != nil {
				t.Fatal(err)
			}
			differ(t, "the fork's files", filesIn(t, own.Dir), files)
			if own.Plain != c.plain || strings.Join(own.Lacks, ", ") != c.lacks || own.Worktree != (c.plain == "" && c.git != "project/one/.git") {
				t.Errorf("%+v", own)
			}
			if got := c.status(p, own.Dir); got != status {
				t.Errorf("git says of the fork\n%s\nand of the original\n%s", got, status)
			}
			p.OK("delete", "kid", "--yes")
			differ(t, "git's files", p.gitFiles(), git)
			if left, _ := os.ReadDir(filepath.Join(p.Home, "isolated")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}

			at := filepath.Join(p.Dir, cmp.Or(c.git, "project/.git"))
			p.write(filepath.Join(c.inner, ".gitattributes"), "* filter=trap diff=trap\n")
			trace := p.traps(filepath.Join(at, "config"), filepath.Join(at, "hooks"))
			p.OK("fork", "s", "--id", "kid2")
			p.OK("delete", "kid2", "--yes")
			if _, err := os.Lstat(trace); err == nil {
				t.Error("something of the repository ran")
			}
		})
	}
}

// status is what git says in a copy or the original, and of which directory. What is not carried on in a copy is told
// by the long words alone.
func (c repoKind) status(p *project, dir string) (out string) {
	p.T.Helper()
	if c.plain != "" {
		return ""
	}
	p.T.Setenv("GIT_OPTIONAL_LOCKS", "0")
	for _, at := range slices.Compact([]string{"", c.inner}) {
		switch {
		case at == "" && c.git == "project/one/.git":
			continue
		case c.lacks != "":
			out += gitIn(p.T, dir, "status", "--porcelain")
		default:
			out += p.statusIn(filepath.Join(dir, at))
		}
		out += strings.TrimPrefix(gitIn(p.T, filepath.Join(dir, at), "rev-parse", "--show-toplevel"), dir)
	}
	return out
}

// A directory that says that its repository is one outside of the project has none in a fork: nothing is written there, and
// that is said.
func TestAForkWritesIntoNoRepositoryElsewhere(t *testing.T) {
	needs.Program(t, "git")
	p := newProject(t)
	p.repository(".")
	p.repository("../other")
	p.write("planted/.git", "gitdir: "+filepath.Join(p.Dir, "other/.git")+"\n")
	p.write("planted/f", "f\n")
	model := p.Scripted(`{"turns":[{"match":"hello","steps":[{"text":"hello"}]}]}`)
	p.prompt(model, "hello", "--session-id", "s")
	before := p.gitFiles()
	o := p.Run("fork", "s", "--id", "kid")
	if !strings.Contains(o.Stderr, `the repository in "planted" (it lies elsewhere; its files are there)`) {
		t.Errorf("exit %d: %s", o.Code, o.Stderr)
	}
	holds(t, filepath.Join(p.ownDir("kid"), "planted/f"), "f\n")
	if list := p.gitIn("../other", "worktree", "list"); strings.Contains(list, "isolated") {
		t.Errorf("the other one has a worktree: %s", list)
	}
	p.OK("delete", "kid", "--yes")
	differ(t, "git's files", p.gitFiles(), before)
}

// A copy that has no git is no part of a repository around the home, such as one of all that a person has: what git is told
// to do in it is not done there.
func TestACopyWithoutGitIsNoPartOfARepositoryAroundTheHome(t *testing.T) {
	needs.Program(t, "git")
	p := newProject(t)
	top := filepath.Dir(p.Home)
	gitIn(t, top, "init", "-q", ".")
	gitIn(t, top, "commit", "-q", "--allow-empty", "-m", "of the person")
	p.gitIn(".", "init", "-q")
	p.write("a.txt", "a\n")
	for _, ceiling := range []string{"", "GIT_CEILING_DIRECTORIES=/nowhere"} {
		if ceiling != "" {
			p.App.Environ = append(p.App.Environ, ceiling)
		}
		id := "s" + ceiling[:min(len(ceiling), 1)]
		model := p.Scripted(script(t, map[string]string{"work": "git rev-parse --show-toplevel > " + p.Dir + "/where; git add -A; git commit -qm x; git -C " + p.dir + " rev-parse --show-toplevel > " + p.Dir + "/there"}))
		p.prompt(model, "work", "--isolate", "--session-id", id)
		if b, err := os.ReadFile(filepath.Join(p.Dir, "where")); err != nil || len(b) > 0 {
			t.Errorf("git works in the copy on %q, %v", b, err)
		}
		if b, err := os.ReadFile(filepath.Join(p.Dir, "there")); err != nil || strings.TrimSpace(string(b)) != p.dir {
			t.Errorf("git works in the project on %q, %v", b, err)
		}
		if got := gitIn(t, top, "status", "--porcelain"); strings.Contains(got, "A ") {
			t.Errorf("it has added\n%s", got)
		}
	}
}
