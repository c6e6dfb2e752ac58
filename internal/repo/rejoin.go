package repo

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/perdure/perdure/internal/sys"
)

// Rejoin gives what is to be the .git file of a directory that was a worktree and still has its files, or has them again:
// with its own commit and index, if the repository still knows it, else as [Repo.AddWorktree] makes one, for which stage is
// a place that is used for nothing else: what a killed call has left there goes.
func (r Repo) Rejoin(ctx context.Context, dir, stage string) (w Worktree, err error) {
	if w.Link = r.linkTo(dir); w.Link != nil {
		return w, nil
	}
	if err = os.RemoveAll(stage); err == nil && r.linkTo(stage) != nil {
		err = r.DropWorktree(ctx, stage)
	}
	if err != nil {
		return w, err
	}
	if w, err = r.AddWorktree(ctx, stage); err != nil {
		return w, err
	}
	to := strings.TrimPrefix(strings.TrimSpace(string(w.Link)), linkPrefix)
	f, err := os.OpenFile(filepath.Join(to, "gitdir"), os.O_WRONLY|os.O_TRUNC|sys.NoFollow, 0)
	if err == nil {
		_, err = f.WriteString(filepath.Join(dir, ".git") + "\n")
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		err = errors.Join(err, r.DropWorktree(context.WithoutCancel(ctx), stage))
	}
	return w, err
}

// linkTo is what is to be the .git file of a worktree that the repository knows at a place; nil: it knows none there.
func (r Repo) linkTo(place string) []byte {
	_, git, err := find(r.Root)
	if err != nil {
		return nil
	}
	all := filepath.Join(commonDir(git), "worktrees")
	entries, err := os.ReadDir(all)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		at := filepath.Join(all, e.Name())
		if to, err := small(filepath.Join(at, "gitdir")); err == nil && to == filepath.Join(place, ".git") {
			return []byte(linkPrefix + at + "\n")
		}
	}
	return nil
}

// Unlink removes a .git that leads to no repository, or to what is another worktree's, or that is empty, as one is
// whose writer was killed. Any other is left alone: that is an error.
func Unlink(dir string) error {
	git := filepath.Join(dir, ".git")
	text, err := small(git)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if text != "" && !strings.HasPrefix(text, linkPrefix) || Linked(dir) == nil {
		return errors.New("repo: its .git is no link that leads nowhere")
	}
	return os.Remove(git)
}

// MainOf is the work tree of the repository to which a worktree's .git leads; empty: it leads to none that has one.
func MainOf(dir string) string {
	root, git, err := find(dir)
	if err != nil || root != filepath.Clean(dir) {
		return ""
	}
	main, name := filepath.Split(filepath.Clean(commonDir(git)))
	if _, err := os.Stat(filepath.Join(main, name, "HEAD")); err != nil || name != ".git" {
		return ""
	}
	return filepath.Clean(main)
}

// Linked says what is wrong with the worktree that begins in a directory; nil: its .git leads to a repository, and not
// to what is another worktree's there, or it has none.
func Linked(dir string) error {
	root, git, err := find(dir)
	if errors.Is(err, ErrNone) || err == nil && root != filepath.Clean(dir) {
		return nil
	}
	if err == nil {
		_, err = os.Stat(filepath.Join(git, "HEAD"))
	}
	if err == nil && taken(root, git) {
		err = errors.New("repo: what .git leads to is another worktree's by now")
	}
	return err
}

// taken reports that what a worktree's .git leads to belongs to another directory, which leads there, too: git gives
// the name of a worktree that it has forgotten to the next one. One that only was moved is still its own.
func taken(root, git string) bool {
	place, err := small(filepath.Join(git, "gitdir"))
	if err != nil { // it is no worktree's
		return false
	}
	if !filepath.IsAbs(place) {
		place = filepath.Join(git, place)
	}
	here, err := os.Stat(filepath.Join(root, ".git"))
	there, errThere := os.Stat(place)
	if err != nil || errThere != nil || os.SameFile(here, there) {
		return false
	}
	other, to, err := find(filepath.Dir(place))
	if err != nil || other != filepath.Dir(place) {
		return false
	}
	mine, err := os.Stat(git)
	its, errIts := os.Stat(to)
	return err == nil && errIts == nil && os.SameFile(mine, its)
}

// Within reports whether what git keeps of a repository lies below a directory, or in another repository.
func (r Repo) Within(dir string, other Repo) bool {
	in := func(path, dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	}
	real := func(root string) string {
		_, git, err := find(root)
		if err != nil {
			return ""
		}
		if git, err = filepath.EvalSymlinks(commonDir(git)); err != nil {
			return ""
		}
		return git
	}
	git := real(r.Root)
	top, err := filepath.EvalSymlinks(dir)
	if git == "" || err != nil {
		return false
	}
	around := ""
	if other.Root != "" {
		around = real(other.Root)
	}
	return in(git, top) || around != "" && in(git, around)
}
