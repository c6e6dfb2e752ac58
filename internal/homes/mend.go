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

// worktrees are the directories of a session's own that were made worktrees, the top first. What a damaged origin says
// of other places is none.
func (h *Home) worktrees(id string, o origin) (out []BrokenTree) {
	if !filepath.IsLocal(o.Name) || filepath.Base(o.Name) != o.Name {
		return nil
	}
	top := filepath.Join(h.ownTop(id), o.Name)
	if o.Repo != "" {
		out = append(out, BrokenTree{top, o.Repo})
	}
	for _, in := range o.Inner {
		if !filepath.IsLocal(filepath.FromSlash(in.Rel)) {
			continue
		}
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

// MendTrees makes the directories of a session's own worktrees again in which git does not work, or that have no .git
// any more. One that its repository still knows has the commit and the index that it had; else they are those of the
// original, now.
func (h *Home) MendTrees(ctx context.Context, id string) (out MendedTrees, err error) {
	o, err := h.origin(id)
	if errors.Is(err, os.ErrNotExist) {
		o, err = h.lostOrigin(ctx, id)
	}
	if err != nil || o.Name == "" {
		return out, err
	}
	unlock, err := h.lockDeletions(ctx)
	if err != nil {
		return out, err
	}
	defer unlock()
	stage := filepath.Join(h.ownTop(id), ".stage")
	for _, w := range h.worktrees(id, o) {
		if !isRealDir(w.Dir) {
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

// lostOrigin writes anew what the directory of a fork was made from, of which everything was removed: it was made from
// that of the session that it was forked from. Without a name, nothing is known of it.
func (h *Home) lostOrigin(ctx context.Context, id string) (o origin, err error) {
	info, err := h.store.Get(ctx, id)
	if err != nil || info.Parent == nil {
		return o, err
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return o, err
	}
	parent, err := h.State(ctx, info.Parent.Session)
	own := h.ownDir(id, filesDir(st))
	if err != nil || own == "" {
		return o, err
	}
	rel, err := filepath.Rel(own, filesDir(st))
	if err != nil {
		return o, err
	}
	o = origin{From: h.ProjectOf(filesDir(parent)), Name: filepath.Base(own)}
	if rel != "." {
		o.Rel = rel
	}
	if r, err := repo.Look(ctx, filesDir(parent)); err == nil && filepath.Join(r.Root, o.Rel) == filesDir(parent) {
		o.Repo = r.Root
		c := copying{own: &Own{}, top: r.Root, repo: r, all: st.Workspace.Tree}
		if o.Rel == "" {
			found, err := h.innerRepos(ctx, &c)
			if err != nil {
				return o, err
			}
			for _, f := range found {
				o.Inner = append(o.Inner, f.inner)
			}
		}
	}
	return o, h.writeOrigin(id, o)
}

// isRealDir reports a directory with no link on the way to it: behind one may lie somebody else's.
func isRealDir(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || real != dir {
		return false
	}
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
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

// OwnCommits are the commits in one worktree of a session's own that neither a branch, a tag nor the original has: they go
// with the worktree.
type OwnCommits struct {
	Repo   string // the directory of which it is a worktree
	N      int    // at most 1,000
	Newest string
}

// CommitsOf finds those of a session. A repository that cannot be asked has none.
func (h *Home) CommitsOf(ctx context.Context, id string) (out []OwnCommits) {
	o, err := h.origin(id)
	if err != nil {
		return nil
	}
	for _, w := range h.worktrees(id, o) {
		own, err := repo.Look(ctx, w.Dir)
		if err != nil || own.Root != w.Dir {
			continue
		}
		from, err := repo.Look(ctx, w.Repo)
		if err != nil || own.Commit == from.Commit {
			continue
		}
		n, err := own.Loose(ctx, from.Commit)
		if err != nil {
			h.cfg.Log.Info("the commits of a worktree could not be counted", "session", id, "directory", w.Dir, "error", err)
		}
		if n > 0 {
			out = append(out, OwnCommits{w.Repo, n, own.Commit})
		}
	}
	return out
}
