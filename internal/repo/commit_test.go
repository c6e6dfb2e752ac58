package repo

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

// Goal: while a merge or the like is under way nothing is committed and nothing staged: a person's commit would take it along.
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

// Goal: what the repository ignores is left out without an error, also those that it tracks all
// the same, which git add stages and then fails; the rest is committed, and what is staged besides stays.
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
	if got := w.git("show", "--name-only", "--format=%s", "HEAD"); got != "note\n\nseen/b*.md" {
		t.Errorf("%q", got)
	}
	if staged := w.git("diff", "--cached", "--name-only"); staged != "other" {
		t.Errorf("%q", staged)
	}
}
