package homes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/internal/repo"
)

// BrokenTree is a directory of a session's own that was made a git worktree, and in which git does not work any more: its
// repository was moved, is gone or has forgotten it.
type BrokenTree struct {
	Dir, Repo string
}

// BrokenTrees finds those of a session whose .git leads nowhere.
func (h *Home) BrokenTrees(id string) (out []BrokenTree) {
	o, err := h.origin(id)
	if err != nil {
		return nil
	}
	for _, w := range h.worktrees(id, o) {
		if repo.Linked(w.Dir) != nil {
			out = append(out, w)
		}
	}
	return out
}

// worktrees are the directories of a session's own that were made worktrees, the top first.
func (h *Home) worktrees(id string, o origin) (out []BrokenTree) {
	top := filepath.Join(h.ownTop(id), o.Name)
	if o.Repo != "" {
		out = append(out, BrokenTree{top, o.Repo})
	}
	for _, in := range o.Inner {
		out = append(out, BrokenTree{filepath.Join(top, filepath.FromSlash(in.Rel)), in.Repo})
	}
	return out
}

// MendedTrees is what became of directories in which git did not work, in words for people.
type MendedTrees struct {
	Dirs   []string // in which it works again
	Lacks  []string // what was not carried on there
	Broken []string // in which it does not, and why
}

// MendTrees makes the directories of a session's own worktrees again in which git does not work, or that have no .git any
// more. One that its repository still knows has the commit and the index that it had; else they are those of the original, now.
func (h *Home) MendTrees(ctx context.Context, id string) (out MendedTrees, err error) {
	o, err := h.origin(id)
	if errors.Is(err, os.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	unlock, err := h.lockDeletions(ctx)
	if err != nil {
		return out, err
	}
	defer unlock()
	stage := filepath.Join(h.ownTop(id), ".stage")
	for _, w := range h.worktrees(id, o) {
		if info, err := os.Lstat(w.Dir); err != nil || !info.IsDir() {
			continue
		}
		if _, err := os.Lstat(filepath.Join(w.Dir, ".git")); err == nil && repo.Linked(w.Dir) == nil {
			continue
		}
		lacks, err := rejoin(ctx, w, filepath.Join(stage, filepath.Base(w.Dir)))
		if ctx.Err() != nil {
			return out, err
		}
		if err != nil {
			out.Broken = append(out.Broken, fmt.Sprintf("%s: %s", w.Dir, strings.TrimPrefix(err.Error(), "repo: ")))
			continue
		}
		out.Dirs, out.Lacks = append(out.Dirs, w.Dir), append(out.Lacks, lacks...)
	}
	return out, os.RemoveAll(stage)
}

// rejoin makes one directory a worktree again.
func rejoin(ctx context.Context, w BrokenTree, stage string) (lacks []string, err error) {
	r, err := repo.Look(ctx, w.Repo)
	if errors.Is(err, repo.ErrNone) || err == nil && r.Root != w.Repo {
		return nil, fmt.Errorf("its repository is not in %s any more", w.Repo)
	}
	if err != nil {
		return nil, fmt.Errorf("its repository %s: %w", w.Repo, err)
	}
	if err := repo.Unlink(w.Dir); err != nil {
		return nil, err
	}
	made, err := r.Rejoin(ctx, w.Dir, stage)
	if err != nil {
		return nil, err
	}
	return made.Lacks, writeLink(w.Dir, made.Link)
}
