package attack_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func writing(path, text string) call {
	return call{"Write", map[string]any{"file_path": path, "content": text}}
}

// bareConfig makes git run a program as soon as it takes the directory for a repository.
const bareConfig = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"touch PWNED; false\"\n"

// Edits that are allowed by mode cannot make a directory a git directory, whose configuration then runs a program under
// a rule that only looks.
func TestWritesMakeNoGitDirectory(t *testing.T) {
	for name, files := range map[string][]call{
		"refs last":   {writing("HEAD", "ref: refs/heads/x\n"), writing("config", bareConfig), writing("objects/x", ""), writing("refs/x", "")},
		"head last":   {writing("refs/x", ""), writing("objects/x", ""), writing("config", bareConfig), writing("HEAD", "ref: refs/heads/x\n")},
		"common last": {writing("config", bareConfig), writing("HEAD", "ref: refs/heads/x\n"), writing("commondir", "../shared\n")},
		"below":       {writing("sub/HEAD", "ref: refs/heads/x\n"), writing("sub/objects/x/y", ""), writing("sub/refs/heads/x/y", "")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var steps []step
			for _, f := range files {
				steps = append(steps, calls(f))
			}
			steps = append(steps, calls(bash("git status")))
			w.want(3, run1("s", w.model(steps...), "--permission-mode", "acceptEdits", "--allowed-tools", "Bash(git status:*)")...)
			acts := w.show("s").Acts
			if last := acts[len(acts)-1]; last.Tool != "Write" || last.State != "awaiting_approval" || len(acts) != len(files) {
				t.Errorf("the write that completes a git directory does not wait for a human: %+v", acts)
			}
			if exists(filepath.Join(w.work, "PWNED")) {
				t.Error("a program ran")
			}
		})
	}
}

// Nor can they change one that a project brings along: its configuration and hooks are programs.
func TestWritesKeepOutOfShippedGitDirectories(t *testing.T) {
	for _, name := range []string{"config", "hooks/post-receive", "info/attributes"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			for _, f := range []string{"HEAD", "objects/x", "refs/x", "config"} {
				w.write(filepath.Join(w.work, "testdata/x.git", f), "ref: refs/heads/x\n")
			}
			w.want(3, run1("s", w.model(calls(writing("testdata/x.git/"+name, "x"))), "--permission-mode", "acceptEdits")...)
		})
	}
	t.Run("ordinary names", func(t *testing.T) {
		w := newWorld(t)
		w.want(0, run1("s", w.model(calls(writing("config", "x")), calls(writing("HEAD", "x")), calls(writing("objects/a", "x")), calls(writing("hooks/a", "x"))),
			"--permission-mode", "acceptEdits")...)
	})
}

// A directory that only looks like a bare repository is none for the git of commands and tasks: git takes one when it
// is named, and never because the command happens to stand in it.
func TestGitTakesNoBareRepositoryByAccident(t *testing.T) {
	w := newWorld(t)
	w.env = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=perdure.kept", "GIT_CONFIG_VALUE_0=yes"}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/x\n", "config": bareConfig, "objects/x": "", "refs/x": ""} {
		w.write(filepath.Join(w.work, name), text)
	}
	w.want(0, run1("s", w.model(
		calls(bash("git status")), calls(bash("git diff --stat")), calls(bash("git ls-files")), calls(bash("git config perdure.kept")),
		calls(bash("unset GIT_CONFIG_COUNT GIT_CONFIG_KEY_1")), calls(bash("git status")),
		calls(bash("export GIT_CONFIG_COUNT=0")), calls(bash("git status")),
		calls(bash("export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_1=safe.bareRepository GIT_CONFIG_VALUE_1=all")), calls(bash("git status")),
	), bypass)...)
	if exists(filepath.Join(w.work, "PWNED")) {
		t.Error("git ran the program of a directory that happens to look like a repository")
	}
	results := w.results("s")
	if !strings.Contains(results[0], "bare") || strings.TrimSpace(results[3]) != "yes" {
		t.Errorf("results %q", results)
	}
	w.want(0, "task", "run", "--session", "s", "--name", "look", "--", "git", "status")
	w.perdure("task", "wait", "s", "look")
	if out := w.want(0, "task", "output", "s", "look").out; !strings.Contains(out, "bare") {
		t.Errorf("the git of a task says %q", out)
	}
	if exists(filepath.Join(w.work, "PWNED")) {
		t.Error("the git of a task ran it")
	}
}

// What people do with git goes on working: a repository in a subdirectory, a named bare repository, and a remote that
// is a local path.
func TestGitOfPeopleWorks(t *testing.T) {
	w := newWorld(t)
	shell := exec.Command("bash", "-ec", `
		git init -q --bare `+w.root+`/up.git; git init -q .; git remote add origin `+w.root+`/up.git
		git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first; mkdir -p sub`)
	shell.Dir, shell.Env = w.work, w.environ()
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w.want(0, run1("s", w.model(
		calls(bash("git push -q origin HEAD:refs/heads/x && echo pushed")),
		calls(bash("cd sub && git status >/dev/null && echo status")),
		calls(bash("git --git-dir="+w.root+"/up.git log --oneline x && echo named")),
		calls(bash("git clone -q "+w.root+"/up.git ../clone && echo cloned")),
	), bypass)...)
	for i, word := range []string{"pushed", "status", "named", "cloned"} {
		if got := w.results("s")[i]; !strings.Contains(got, word) {
			t.Errorf("%s: %q", word, got)
		}
	}
}
