package repo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/test/needs"
)

var start = time.Date(2026, 4, 8, 12, 0, 0, 0, time.UTC)

// work is a repository in a temporary directory.
type work struct {
	*testing.T
	dir string
}

func newWork(t *testing.T, args ...string) *work {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		needs.Not(t, "git is not installed")
	}
	w := &work{T: t, dir: t.TempDir()}
	w.git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return w
}

func (w *work) git(args ...string) string {
	w.Helper()
	return w.at(start, args...)
}

func (w *work) at(when time.Time, args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "git", args...)
	stamp := when.Format(time.RFC3339)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@b", "GIT_AUTHOR_DATE="+stamp, "GIT_COMMITTER_DATE="+stamp)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *work) commit(n int) string {
	w.Helper()
	w.at(start.Add(time.Duration(n)*time.Minute), "commit", "-q", "--allow-empty", "-m", fmt.Sprintf("subject %d\n\nbody", n))
	return w.git("rev-parse", "HEAD")
}

func (w *work) look(dir string) Repo {
	w.Helper()
	r, err := Look(context.Background(), filepath.Join(w.dir, dir))
	if err != nil {
		w.Fatal(err)
	}
	return r
}

func (w *work) write(rel, text string) {
	w.Helper()
	at := filepath.Join(w.dir, rel)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o700); err != nil {
		w.Fatal(err)
	}
}

// Goal: branch and commit are those that git says, in each form in which it keeps them.
func TestLookIsWhatGitSays(t *testing.T) {
	w := newWork(t)
	if r := w.look(""); r.Root != w.dir || r.Branch != "main" || r.Commit != "" {
		t.Errorf("without a commit: %+v", r)
	}
	first := w.commit(1)
	w.write("a/b/file", "x")
	if r := w.look("a/b"); r.Root != w.dir || r.Branch != "main" || r.Commit != first {
		t.Errorf("from below: %+v", r)
	}
	w.git("checkout", "-q", "-b", "topic/one")
	w.git("pack-refs", "--all")
	if r := w.look(""); r.Branch != "topic/one" || r.Commit != first {
		t.Errorf("packed: %+v", r)
	}
	second := w.commit(2)
	if r := w.look(""); r.Commit != second {
		t.Errorf("packed, and newer: %+v", r)
	}
	w.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
	w.git("symbolic-ref", "HEAD", "refs/heads/alias")
	if r := w.look(""); r.Branch != "alias" || r.Commit != first {
		t.Errorf("by a name for a name: %+v", r)
	}
	w.git("checkout", "-q", "--detach", second)
	if r := w.look(""); r.Branch != "" || r.Commit != second {
		t.Errorf("without a branch: %+v", r)
	}
	w.git("worktree", "add", "-q", "tree", "topic/one")
	if r := w.look("tree"); r.Branch != "topic/one" || r.Commit != second || r.Root != filepath.Join(w.dir, "tree") {
		t.Errorf("in a worktree: %+v", r)
	}
	if have, err := w.look("tree").Have(t.Context(), []string{first}); err != nil || !have[first] {
		t.Errorf("in a worktree: %v, %v", have, err)
	}
	if _, err := Look(t.Context(), t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("without a repository: %v", err)
	}
	sha := newWork(t, "--object-format=sha256")
	if hash := sha.commit(1); len(hash) != 64 || sha.look("").Commit != hash {
		t.Errorf("with long hashes: %+v", sha.look(""))
	}
}

// Goal: commits since a time are listed, the newest first, and those beyond the wish are counted.
func TestSince(t *testing.T) {
	w := newWork(t)
	var hashes []string
	for n := range 8 {
		hashes = append(hashes, w.commit(n))
	}
	r := w.look("")
	list, more, err := r.Since(t.Context(), start.Add(3*time.Minute), 2)
	if err != nil || len(list) != 2 || more != 3 || list[0].Hash != hashes[7] || list[0].Subject != "subject 7" || !list[1].Time.Equal(start.Add(6*time.Minute)) {
		t.Errorf("%+v, %d, %v", list, more, err)
	}
	if list, more, err := r.Since(t.Context(), start.Add(time.Hour), 10); err != nil || len(list) != 0 || more != 0 {
		t.Errorf("%+v, %d, %v", list, more, err)
	}
	w.at(start.Add(time.Hour), "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
	if list, _, err := w.look("").Since(t.Context(), start.Add(7*time.Minute), 10); err != nil || len(list) != 2 || list[0].Subject != "" || list[1].Subject != "subject 7" {
		t.Errorf("%+v, %v", list, err)
	}
	if list, more, err := newWork(t).look("").Since(t.Context(), start, 5); err != nil || len(list)+more != 0 {
		t.Errorf("without a commit: %+v, %v", list, err)
	}
}

// Goal: a commit is there or it is not; a tree, a file and what only looks like a hash are none.
func TestHave(t *testing.T) {
	w := newWork(t)
	w.write("file", "text")
	w.git("add", "file")
	hash := w.commit(1)
	tree, blob, gone := w.git("rev-parse", "HEAD^{tree}"), w.git("hash-object", "-w", "file"), strings.Repeat("0", 39)+"1"
	w.git("tag", "-a", "v1", "-m", "x")
	have, err := w.look("").Have(t.Context(), []string{hash, hash[:7], tree, blob, gone, gone[:7], "HEAD", "main", "-x\nHEAD", ""})
	if err != nil {
		t.Fatal(err)
	}
	for h, is := range have {
		if is != (h == hash || h == hash[:7]) {
			t.Errorf("%q: %t", h, is)
		}
	}
	if len(have) != 10 {
		t.Errorf("%d answers", len(have))
	}
	if have, err := w.look("").Have(t.Context(), nil); err != nil || len(have) != 0 {
		t.Errorf("%v, %v", have, err)
	}
}

// A repository's configuration names programs that git runs: for looking at a repository none of them runs, whatever the
// environment says.
func TestNothingOfTheRepositoryRuns(t *testing.T) {
	w := newWork(t)
	hash := w.commit(1)
	ran := filepath.Join(t.TempDir(), "ran")
	w.write("evil", "#!/bin/sh\necho \"$0 $@\" >> "+ran+"\n")
	evil := filepath.Join(w.dir, "evil")
	for _, key := range []string{
		"core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "gpg.program", "gpg.ssh.program", "diff.external", "pager.rev-list", "pager.log",
		"credential.helper", "core.askPass", "core.gitProxy", "core.alternateRefsCommand", "uploadpack.packObjectsHook", "trailer.x.command", "alias.rev-list", "alias.cat-file",
		"filter.x.smudge", "filter.x.clean", "filter.x.process", "diff.x.textconv", "remote.origin.uploadpack",
	} {
		value := evil
		if strings.HasPrefix(key, "alias") {
			value = "!" + evil
		}
		w.git("config", key, value)
	}
	w.git("config", "log.showSignature", "true")
	w.git("config", "extensions.partialClone", "origin")
	w.git("config", "remote.origin.promisor", "true")
	w.git("config", "remote.origin.url", "ext::"+evil)
	w.git("config", "protocol.ext.allow", "always")
	w.write(".gitattributes", "* filter=x diff=x\n")
	for _, hook := range []string{"post-checkout", "pre-commit", "reference-transaction", "fsmonitor-watchman", "post-index-change"} {
		w.write(".git/hooks/"+hook, "#!/bin/sh\necho hook >> "+ran+"\n")
	}
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("GIT_EXTERNAL_DIFF", evil)
	t.Setenv("GIT_PAGER", evil)
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
	t.Setenv("GIT_CONFIG_VALUE_0", evil)
	r := w.look("")
	if list, _, err := r.Since(t.Context(), start, 10); err != nil || len(list) != 1 || list[0].Hash != hash {
		t.Errorf("%+v, %v", list, err)
	}
	have, err := r.Have(t.Context(), []string{hash, strings.Repeat("ab", 20)})
	if err != nil || !have[hash] || have[strings.Repeat("ab", 20)] {
		t.Errorf("%v, %v", have, err)
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(top, "place")
	if _, err := r.AddWorktree(t.Context(), place); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(filepath.Join(w.dir, ".git/worktrees")); err != nil {
		t.Fatal(err)
	}
	made, err := r.Rejoin(t.Context(), place, filepath.Join(top, "stage"))
	if err == nil {
		w.must(os.Mkdir(place, 0o700))
		w.must(os.WriteFile(filepath.Join(place, ".git"), made.Link, 0o600))
		w.must(os.WriteFile(filepath.Join(place, ".gitattributes"), []byte("* filter=x diff=x\n"), 0o600))
		_, err = r.Loose(t.Context(), "")
	}
	if err = errors.Join(err, r.DropWorktree(t.Context(), place)); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(ran); err == nil {
		t.Errorf("it ran: %s", b)
	}
}

func (w *work) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// Goal: what a git directory says leads to no other file, is not waited for, and is not read without a bound.
func TestPlantedGitDirectories(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("a", 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(w *work){
		"a ref that leads away":  func(w *work) { w.write(".git/HEAD", "ref: refs/../../../"+secret+"\n") },
		"a ref with an absolute": func(w *work) { w.write(".git/HEAD", "ref: "+secret+"\n") },
		"HEAD of words":          func(w *work) { w.write(".git/HEAD", "some text\n") },
		"HEAD without end":       func(w *work) { w.write(".git/HEAD", "ref: refs/heads/"+strings.Repeat("x", 1<<20)) },
		"a circle": func(w *work) {
			w.write(".git/HEAD", "ref: refs/heads/a")
			w.write(".git/refs/heads/a", "ref: refs/heads/a")
		},
		"a ref of words":             func(w *work) { w.write(".git/HEAD", "ref: refs/heads/a"); w.write(".git/refs/heads/a", "root:x:0:0") },
		"a .git file that says else": func(w *work) { w.write(".git", "secret: 1\n") },
		"no HEAD":                    func(w *work) { w.write(".git/config", "") },
		"HEAD is a link": func(w *work) {
			w.write(".git/config", "")
			if err := os.Symlink(secret, filepath.Join(w.dir, ".git/HEAD")); err != nil {
				t.Fatal(err)
			}
		},
		"a ref is a link": func(w *work) {
			w.write(".git/HEAD", "ref: refs/heads/a")
			w.write(".git/refs/heads/b", "")
			if err := os.Symlink(secret, filepath.Join(w.dir, ".git/refs/heads/a")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		w := &work{T: t, dir: t.TempDir()}
		make(w)
		r, err := Look(t.Context(), w.dir)
		if err == nil || errors.Is(err, ErrNone) || r.Commit != "" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if err != nil && strings.Contains(err.Error(), "root:x") {
			t.Errorf("%s: the error quotes it: %v", name, err)
		}
	}
}

// Goal: git's word about anything but the repository of this directory is not taken: a bare repository below is none.
func TestOnlyTheRepositoryThatWasFound(t *testing.T) {
	w := newWork(t)
	hash := w.commit(1)
	r := w.look("")
	r.Root = filepath.Join(w.dir, "below")
	w.git("init", "-q", "--bare", "below")
	if have, err := r.Have(t.Context(), []string{hash}); err == nil {
		t.Errorf("another repository answers: %v", have)
	}
	r.Root = w.dir
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Have(ctx, []string{hash}); err == nil {
		t.Error("nobody is told that git did not answer")
	}
}
