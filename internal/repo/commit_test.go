package repo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A commit of a project's knowledge runs nothing that the repository names: no filter, no hook, no maintenance, no signing
// program; and what is committed is what lies in the files.
func TestACommitRunsNothingOfTheRepository(t *testing.T) {
	w := newWork(t)
	w.write("src", "one\n")
	w.git("add", "src")
	w.commit(1)
	ran := filepath.Join(t.TempDir(), "ran")
	w.write("evil", "#!/bin/sh\necho \"$0 $@\" >> "+ran+"\ncat\n")
	evil := filepath.Join(w.dir, "evil")
	for _, key := range []string{
		"core.fsmonitor", "core.sshCommand", "core.editor", "gpg.program", "gpg.ssh.program", "diff.external", "credential.helper", "alias.add", "alias.commit",
		"filter.x.smudge", "filter.x.clean", "filter.a=b.clean", "filter.y.process", "diff.x.textconv", "gc.recentObjectsHook", "trailer.x.command",
	} {
		w.git("config", key, evil)
	}
	w.git("config", "filter.x.required", "true")
	w.git("config", "commit.gpgSign", "true")
	w.git("config", "gc.auto", "1")
	w.git("config", "gc.autoDetach", "false")
	w.git("config", "core.autocrlf", "true")
	w.write(".gitattributes", "* filter=x diff=x ident\n*.json filter=y\n*.txt filter=a=b\n")
	w.write(".git/info/attributes", "* filter=x\n")
	for _, hook := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction", "post-index-change", "pre-auto-gc", "post-rewrite"} {
		w.write(".git/hooks/"+hook, "#!/bin/sh\necho hook >> "+ran+"\n")
	}
	w.write("src", "staged\n")
	w.git("-c", "filter.x.clean=", "-c", "filter.x.required=false", "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "add", "src")
	const text = "a $Id$\r\nb\n"
	files := []string{".agent/MEMORY.md", ".agent/state.json", ".agent/x.txt"}
	var abs []string
	for _, f := range files {
		w.write(f, text)
		abs = append(abs, filepath.Join(w.dir, f))
	}
	if err := w.look("").CommitOnly(t.Context(), abs, "the subject"); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(ran); err == nil {
		t.Errorf("it ran: %s", b)
	}
	read := []string{"-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null", "-c", "diff.external="}
	say := func(args ...string) string { return w.git(append(read, args...)...) }
	if got := strings.Fields(say("show", "--name-only", "--no-ext-diff", "--format=", "HEAD")); strings.Join(got, " ") != strings.Join(files, " ") {
		t.Errorf("committed: %q", got)
	}
	if got := say("cat-file", "-p", "HEAD:.agent/MEMORY.md"); got != strings.TrimSpace(text) {
		t.Errorf("%q", got)
	}
	if got := say("diff", "--cached", "--name-only", "--no-ext-diff"); got != "src" {
		t.Errorf("staged besides: %q", got)
	}
	if got := say("log", "-1", "--format=%s|%P"); !strings.HasPrefix(got, "the subject|") || len(got) < 40 {
		t.Errorf("%q", got)
	}
}

// What is committed is a file of the work tree: not what a link leads to, and not what a configuration calls the tree.
func TestACommitReadsNoOtherFile(t *testing.T) {
	w := newWork(t)
	w.commit(1)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.write(".agent/MEMORY.md", "text\n")
	if err := os.Symlink(secret, filepath.Join(w.dir, "HANDOFF.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(secret), filepath.Join(w.dir, "away")); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	if err := os.MkdirAll(filepath.Join(elsewhere, ".agent"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(elsewhere, ".agent/MEMORY.md"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.git("config", "core.worktree", elsewhere)
	r := Repo{Root: w.dir}
	files := []string{filepath.Join(w.dir, ".agent/MEMORY.md"), filepath.Join(w.dir, "HANDOFF.md"), filepath.Join(w.dir, "away/secret")}
	err := r.CommitOnly(t.Context(), files, "x")
	w.git("config", "--unset", "core.worktree")
	if got := w.git("log", "-p", "--all"); strings.Contains(got, "secret\n") || strings.HasSuffix(got, "+secret") {
		t.Errorf("%v: committed: %s", err, got)
	}
	if got := w.git("cat-file", "-p", "HEAD:.agent/MEMORY.md"); got != "text" {
		t.Errorf("%q, %v", got, err)
	}
}

// A commit in the middle of a merge would be the merge: nothing is committed then, and what was staged stays.
func TestNoCommitInAMerge(t *testing.T) {
	w := newWork(t)
	w.commit(1)
	w.git("checkout", "-q", "-b", "b")
	w.commit(2)
	w.git("checkout", "-q", "main")
	w.commit(3)
	w.git("-c", "commit.gpgSign=false", "merge", "-q", "--no-commit", "--no-ff", "b")
	w.write("MEMORY.md", "text\n")
	head := w.git("rev-parse", "HEAD")
	if err := w.look("").CommitOnly(t.Context(), []string{filepath.Join(w.dir, "MEMORY.md")}, "x"); err == nil || w.git("rev-parse", "HEAD") != head {
		t.Errorf("%v, %s, before %s", err, w.git("rev-parse", "HEAD"), head)
	}
}

// What is unchanged makes no commit, ignored files stay out, the first commit of a repository is possible, and the name
// and address are the user's.
func TestWhatIsCommitted(t *testing.T) {
	w := newWork(t)
	config := filepath.Join(t.TempDir(), "gitconfig")
	if err := os.WriteFile(config, []byte("[user]\nname = A Person\nemail = a@example.org\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	w.write(".gitignore", "hidden*\n")
	w.write("a b.md", "text\n")
	w.write("hidden.md", "text\n")
	files := []string{filepath.Join(w.dir, "a b.md"), filepath.Join(w.dir, "hidden.md"), filepath.Join(w.dir, "gone.md")}
	for range 2 {
		if err := w.look("").CommitOnly(t.Context(), files, "first"); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.git("log", "--format=%an <%ae> %s", "--name-only"); got != "A Person <a@example.org> first\n\na b.md" {
		t.Errorf("%q", got)
	}
	w.write("a b.md", "other\n")
	if err := w.look("").CommitOnly(t.Context(), files, "second"); err != nil || w.git("rev-list", "--count", "HEAD") != "2" || w.git("status", "--porcelain") != "?? .gitignore" {
		t.Errorf("%v: %s, %s", err, w.git("rev-list", "--count", "HEAD"), w.git("status", "--porcelain"))
	}
	if err := w.look("").CommitOnly(t.Context(), []string{filepath.Join(filepath.Dir(w.dir), "x")}, "x"); err == nil {
		t.Error("a file elsewhere is no error")
	}
}

// Goal: while a merge or the like is under way nothing is committed and nothing staged: a person's commit would take it
// along.
func TestNothingIsStagedInTheMidstOfAMerge(t *testing.T) {
	for _, mark := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge/done", "rebase-apply/next"} {
		w := newWork(t)
		head := w.commit(1)
		w.write(".git/"+mark, head+"\n")
		w.write(".agent/HANDOFF.md", "x")
		err := w.look(".").CommitOnly(context.Background(), []string{filepath.Join(w.dir, ".agent/HANDOFF.md")}, "note")
		if !errors.Is(err, ErrBusy) {
			t.Errorf("%s: %v", mark, err)
		}
		if staged := w.git("diff", "--cached", "--name-only"); staged != "" || w.git("rev-parse", "HEAD") != head {
			t.Errorf("%s: staged %q", mark, staged)
		}
	}
}

// Goal: what the repository ignores is left out without an error, but for what it tracks all the same; the rest is
// committed, and what is staged besides stays.
func TestIgnoredFilesAreLeftOutOfACommit(t *testing.T) {
	w := newWork(t)
	w.commit(1)
	w.write(".gitignore", "/hidden/\n")
	w.write("hidden/a.md", "x")
	w.write("seen/b*.md", "x")
	w.write("other", "x")
	w.write("hidden/tracked.md", "x")
	w.git("add", "-f", "hidden/tracked.md")
	w.commit(2)
	w.write("hidden/tracked.md", "y")
	w.git("add", "other")
	files := []string{filepath.Join(w.dir, "hidden/a.md"), filepath.Join(w.dir, "hidden/tracked.md"), filepath.Join(w.dir, "seen/b*.md")}
	if err := w.look(".").CommitOnly(context.Background(), files, "note"); err != nil {
		t.Fatal(err)
	}
	if got := w.git("show", "--name-only", "--format=%s", "HEAD"); got != "note\n\nhidden/tracked.md\nseen/b*.md" {
		t.Errorf("%q", got)
	}
	if staged := w.git("diff", "--cached", "--name-only"); staged != "other" {
		t.Errorf("%q", staged)
	}
}
