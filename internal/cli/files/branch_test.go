package files_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/cli/clitest"
)

// ownDir is where a session with a directory of its own works.
func (p *project) ownDir(id string) string {
	p.T.Helper()
	return filepath.Join(p.Home, "isolated", id, "project")
}

// prompt runs a prompt, in a session that is there or with these flags in a new one.
func (p *project) prompt(model, word string, flags ...string) clitest.Outcome {
	p.T.Helper()
	args := append([]string{"-p", "--dangerously-skip-permissions", "--model", model}, flags...)
	o := p.Run(append(args, word)...)
	if o.Code != 0 {
		p.T.Fatalf("%s: exit %d\n%s\n%s", word, o.Code, o.Stdout, o.Stderr)
	}
	return o
}

func (p *project) git(args ...string) string {
	p.T.Helper()
	return gitIn(p.T, p.dir, args...)
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@x"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// holds fails if a file does not hold a text; an empty text: it is not there.
func holds(t *testing.T, path, want string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if got := string(b); got != want || want == "" && err == nil {
		t.Errorf("%s holds %q, want %q (%v)", path, got, want, err)
	}
}

// A session begun with --isolate has the uncommitted files, the staged ones and those that git ignores, in a worktree of
// its own whose status is the project's; nothing that it does is seen in the project, and its deletion leaves no worktree.
func TestAnIsolatedSessionHasAWorktreeThatNobodySees(t *testing.T) {
	p := newProject(t)
	model := p.Scripted(script(t, map[string]string{"work": "echo agent >> kept; rm gone; echo x > new"}))
	p.write("kept", "committed\n")
	p.write("gone", "g\n")
	p.write(".gitignore", ".env\nnode_modules\n")
	p.git("init", "-q", "-b", "main")
	p.git("add", "-A")
	p.git("commit", "-qm", "first")
	p.write("staged", "s\n")
	p.git("add", "staged")
	p.write("kept", "committed\nmine\n")
	p.write(".env", "KEY=1\n")
	p.write("node_modules/m", "m")
	status := p.git("status", "--short")
	clitest.WriteFile(t, filepath.Join(p.dir, ".git/hooks/post-checkout"), "#!/bin/sh\ntouch "+p.Dir+"/ran\n")
	if err := os.Chmod(filepath.Join(p.dir, ".git/hooks/post-checkout"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := p.files()
	o := p.prompt(model, "work", "--isolate", "--session-id", "s")
	own := p.ownDir("s")
	if !strings.Contains(o.Stderr, "a git worktree") || !strings.Contains(o.Stderr, "node_modules") {
		t.Errorf("it is not said where it works, or what is missing: %s", o.Stderr)
	}
	holds(t, filepath.Join(own, ".env"), "KEY=1\n")
	holds(t, filepath.Join(own, "staged"), "s\n")
	holds(t, filepath.Join(own, "kept"), "committed\nmine\nagent\n")
	holds(t, filepath.Join(own, "gone"), "")
	holds(t, filepath.Join(own, "node_modules/m"), "")
	holds(t, filepath.Join(p.Dir, "ran"), "") // no hook of the repository
	if got := gitIn(t, own, "diff", "--cached", "--name-only"); got != "staged\n" {
		t.Errorf("staged in the worktree: %q", got)
	}
	for name, text := range p.files() {
		if before[name] != text && !strings.HasPrefix(name, ".git") {
			t.Errorf("the project's %s was %q, is %q", name, before[name], text)
		}
	}
	if got := p.git("status", "--short"); got != status {
		t.Errorf("git says of the project\n%swas\n%s", got, status)
	}
	if info, err := os.Stat(filepath.Join(p.Home, "isolated", "s")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	clitest.WriteFile(t, filepath.Join(own, "by-a-person"), "p\n")
	if plan := p.OK("delete", "s", "--dry-run"); !strings.Contains(plan, "removes its directory "+own) || !strings.Contains(plan, "by-a-person") {
		t.Errorf("the plan does not name what goes: %s", plan)
	}
	p.OK("delete", "s", "--yes")
	if _, err := os.Stat(filepath.Join(p.Home, "isolated", "s")); err == nil || strings.Contains(p.git("worktree", "list"), "isolated") {
		t.Errorf("left behind: %v, %s", err, p.git("worktree", "list"))
	}
}

// Edits in a directory of the session's own need no more consent than in any project, though it lies in the home; the rest
// of the home stays protected, other sessions' directories too.
func TestADirectoryOfItsOwnIsNotProtectedFromItsSession(t *testing.T) {
	p := newProject(t)
	p.write("f", "one\n")
	model := p.Scripted(`{"turns":[
		{"match":"inside","steps":[{"tools":[{"name":"Write","input":{"file_path":"g","content":"g\n"}}]},{"text":"done"}]},
		{"match":"outside","steps":[{"tools":[{"name":"Write","input":{"file_path":"` + p.Home + `/isolated/b/project/g","content":"g\n"}}]},{"text":"done"}]}]}`)
	for _, id := range []string{"a", "b"} {
		if o := p.Run("-p", "--isolate", "--permission-mode", "acceptEdits", "--model", model, "--session-id", id, "inside"); o.Code != 0 {
			t.Fatalf("exit %d\n%s%s", o.Code, o.Stdout, o.Stderr)
		}
		holds(t, filepath.Join(p.ownDir(id), "g"), "g\n")
	}
	if err := os.Remove(filepath.Join(p.ownDir("b"), "g")); err != nil {
		t.Fatal(err)
	}
	if o := p.Run("-p", "-r", "a", "--permission-mode", "acceptEdits", "--model", model, "outside"); o.Code != 3 {
		t.Errorf("exit %d, want 3: a person is asked\n%s%s", o.Code, o.Stdout, o.Stderr)
	}
	holds(t, filepath.Join(p.ownDir("b"), "g"), "")
}

// Forks begin with the files as of their event, checkpoint or now, in directories of their own, and know each other's
// changes only when they are applied: three ways, conflicts kept with the other version beside, and undone by undo.
func TestForksHaveFilesOfTheirOwnAndTheBestIsApplied(t *testing.T) {
	p := newProject(t)
	model := p.Scripted(script(t, map[string]string{
		"first": "echo 1 > a; echo 1 > b; mkdir -p d; echo 1 > d/c", "second": "echo 2 > a; rm b", "third": "echo 3 > a; echo 3 > d/c; echo n > n",
	}))
	p.run(model, "first")
	p.OK("checkpoint", "s", "one")
	p.run(model, "second")
	p.OK("fork", "s@one", "--id", "old")
	p.OK("fork", "s", "--id", "new", "--name", "attempt")
	holds(t, filepath.Join(p.ownDir("old"), "a"), "1\n")
	holds(t, filepath.Join(p.ownDir("old"), "b"), "1\n")
	holds(t, filepath.Join(p.ownDir("new"), "a"), "2\n")
	holds(t, filepath.Join(p.ownDir("new"), "b"), "")
	p.prompt(model, "third", "-r", "new")
	holds(t, filepath.Join(p.dir, "a"), "2\n")
	holds(t, filepath.Join(p.dir, "d/c"), "1\n")

	p.write("a", "mine\n") // in another way than the fork
	p.write("mine", "m\n")
	before := p.files()
	p.Fails(2, "asks first", "apply", "new")
	p.same("nothing was agreed to", before)
	if out := p.OK("apply", "new", "--dry-run"); !strings.Contains(out, "a stays") || !strings.Contains(out, "~ d/c") || !strings.Contains(out, "+ n") {
		t.Errorf("the plan is\n%s", out)
	}
	p.OK("apply", "new", "--yes")
	holds(t, filepath.Join(p.dir, "a"), "mine\n")
	holds(t, filepath.Join(p.dir, "a.perdure-conflict"), "3\n")
	holds(t, filepath.Join(p.dir, "d/c"), "3\n")
	holds(t, filepath.Join(p.dir, "n"), "n\n")
	holds(t, filepath.Join(p.dir, "mine"), "m\n")
	if out := p.OK("undo", "s", "--yes"); !strings.Contains(out, "to before the changes of session new were applied") {
		t.Errorf("undo does not say what it takes back: %s", out)
	}
	p.same("after undo", before)
	if o := p.Run("apply", "s"); o.Code != 2 || !strings.Contains(o.Stderr, "no directory of its own") {
		t.Errorf("exit %d: %s", o.Code, o.Stderr)
	}
}

// What the model read and wrote in its session's directory is known of the fork's: a fork is not told that its parent's
// files have changed, and edits what the parent has read.
func TestAForkKnowsItsFilesUnderTheirNewPaths(t *testing.T) {
	p := newProject(t)
	p.write("f", "one\n")
	model := p.Scripted(`{"turns":[
		{"match":"look","steps":[{"tools":[{"name":"Read","input":{"file_path":"f"}}]},{"text":"done"}]},
		{"match":"touch","steps":[{"tools":[{"name":"Bash","input":{"command":"echo x > other"}}]},{"text":"done"}]},
		{"match":"edit","steps":[{"tools":[{"name":"Edit","input":{"file_path":"f","old_string":"one","new_string":"two"}}]},{"text":"done"}]}]}`)
	p.prompt(model, "look", "--session-id", "s")
	p.prompt(model, "touch", "-r", "s")
	p.OK("fork", "s", "--id", "kid")
	p.write("f", "changed in the parent's directory\n")
	if o := p.prompt(model, "edit", "-r", "kid"); strings.Contains(o.Stderr, "changed") {
		t.Errorf("told of the parent's files: %s", o.Stderr)
	}
	holds(t, filepath.Join(p.ownDir("kid"), "f"), "two\n")
	holds(t, filepath.Join(p.dir, "f"), "changed in the parent's directory\n")
}

// Several forks are printed one for each line, as JSON too; a conversation's shares the directory. The tree shows them all.
func TestForksArePrintedForScriptsAndDrawn(t *testing.T) {
	p := newProject(t)
	model := p.Scripted(script(t, map[string]string{"first": "echo 1 > a"}))
	p.run(model, "first")
	ids := strings.Fields(p.OK("fork", "-n", "2"))
	if len(ids) != 2 {
		t.Fatalf("%q", ids)
	}
	var one struct{ Session, Dir string }
	if err := json.Unmarshal([]byte(p.OK("fork", "s", "--json", "--id", "j")), &one); err != nil || one.Session != "j" || one.Dir != p.ownDir("j") {
		t.Errorf("%+v, %v", one, err)
	}
	p.OK("fork", "s", "--conversation", "--id", "talk")
	if _, err := os.Stat(filepath.Join(p.Home, "isolated", "talk")); err == nil {
		t.Error("a fork of the conversation has a directory")
	}
	clitest.WriteFile(t, filepath.Join(p.ownDir("j"), "more"), "m\n")
	tree := p.OK("tree", "j")
	for _, want := range append(ids, "s  ", "├─ j  @", "  ←", "└─ talk  @", "same directory") {
		if !strings.Contains(tree, want) {
			t.Errorf("no %q in\n%s", want, tree)
		}
	}
	var top struct{ Forks []map[string]any }
	if err := json.Unmarshal([]byte(p.OK("tree", "--json")), &top); err != nil || len(top.Forks) != 4 {
		t.Errorf("%+v, %v", top, err)
	}
	if out := p.OK("diff", "s", "j", "--stat", "--direct"); !strings.Contains(out, "added    more") || strings.Contains(out, ".git") {
		t.Errorf("diff:\n%s", out)
	}
	p.Fails(2, "--id names one fork", "fork", "s", "-n", "2", "--id", "x")
	p.Fails(2, "no checkpoint", "fork", "s@nothing")
}
