package homes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/repo"
	"github.com/perdure/perdure/internal/sys"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/workspace"
)

// inner is a repository within the directory that is copied: a submodule, or one that lies there. In the copy it is a
// worktree, too, since git would take its files for those of the repository around it.
type inner struct {
	Rel  string `json:"rel"`  // below the copy's top, with slashes
	Repo string `json:"repo"` // the directory of which it is a worktree
}

// maxInner bounds the repositories within one; the others' files are there, without git.
const maxInner = 64

// link is a directory of a copy, below its top, that is to be a worktree.
type link struct {
	rel  string
	text []byte // of its .git file
}

// prepare writes down what is copied, and adds the worktrees, whose links are written when the files are there.
func (h *Home) prepare(ctx context.Context, c *copying, name string) ([]link, error) {
	o := origin{From: h.ProjectOf(c.own.From), Name: name, Rel: c.rel, Repo: c.repo.Root}
	repos, err := h.innerRepos(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, r := range repos {
		o.Inner = append(o.Inner, r.inner)
	}
	if err := h.writeOrigin(c.own.Session, o); err != nil || o.Repo == "" && len(o.Inner) == 0 {
		return nil, err
	}
	var links []link
	added := origin{From: o.From, Name: name, Rel: c.rel}
	if o.Repo != "" {
		w, err := c.repo.AddWorktree(ctx, c.at)
		if ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			c.own.Plain = strings.TrimPrefix(err.Error(), "repo: ")
		} else {
			added.Repo, c.own.Lacks = o.Repo, append(w.Lacks, c.own.Lacks...)
			links = append(links, link{"", w.Link})
		}
	}
	for _, r := range repos {
		w, err := r.repo.AddWorktree(ctx, filepath.Join(c.at, filepath.FromSlash(r.Rel)))
		if ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			c.own.lacks(r.Rel, strings.TrimPrefix(err.Error(), "repo: "))
			continue
		}
		for _, what := range w.Lacks {
			c.own.Lacks = append(c.own.Lacks, fmt.Sprintf("%s in %q", what, r.Rel))
		}
		added.Inner, links = append(added.Inner, r.inner), append(links, link{r.Rel, w.Link})
	}
	if len(links) < 1+len(o.Inner) || o.Repo == "" {
		err = h.writeOrigin(c.own.Session, added)
	}
	return links, errors.Join(err, os.RemoveAll(c.at)) // there are the directories around them
}

// lacks notes why a repository within has no git in the copy.
func (o *Own) lacks(rel, why string) {
	o.Lacks = append(o.Lacks, fmt.Sprintf("the repository in %q (%s; its files are there)", rel, why))
}

// writeOrigin says durably what a session's own directory is made from.
func (h *Home) writeOrigin(id string, o origin) error {
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if len(b) > maxOrigin {
		return fmt.Errorf("the names of %d repositories take more than %d bytes", len(o.Inner), maxOrigin)
	}
	root, err := realdir.Make(h.dir, isolatedDir, id)
	if err != nil {
		return err
	}
	const next = originFile + ".new"
	f, err := root.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|sys.NoFollow, 0o600)
	if err == nil {
		_, err = f.Write(b)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err == nil {
		err = root.Rename(next, originFile)
	}
	return errors.Join(err, root.Close(), sys.SyncDir(h.ownTop(id)), sys.SyncDir(h.ownTop("")))
}

// found is a repository within, as it is now.
type found struct {
	inner
	repo repo.Repo
}

// innerRepos finds the repositories within what is copied. One whose git directory lies outside of that and of the
// repository around it is somebody else's: nothing is written there.
func (h *Home) innerRepos(ctx context.Context, c *copying) (out []found, err error) {
	err = tree.Walk(workspace.Arrived(h.blobs), c.all, func(at string, e tree.Entry) error {
		rel := path.Dir(at)
		if path.Base(at) != ".git" || !e.Flags.Has(tree.Skipped) || rel == "." {
			return ctx.Err()
		}
		dir := filepath.Join(c.top, filepath.FromSlash(rel))
		r, err := repo.Look(ctx, dir)
		switch {
		case errors.Is(err, repo.ErrNone) || err == nil && r.Root != dir, errors.Is(err, fs.ErrNotExist): // gone since
			return nil
		case err == nil && !r.Within(c.top, c.repo):
			err = errors.New("it lies elsewhere")
		case err == nil && !utf8.ValidString(rel):
			err = errors.New("its name is no UTF-8")
		case err == nil && len(out) == maxInner:
			err = fmt.Errorf("there are more than %d", maxInner)
		}
		if err != nil {
			c.own.lacks(rel, strings.TrimPrefix(err.Error(), "repo: "))
			return nil
		}
		out = append(out, found{inner{rel, r.Root}, r})
		return nil
	})
	return out, err
}

// writeLinks makes directories of a copy git worktrees. One that is not there, since the files are of another moment,
// is none.
func (h *Home) writeLinks(c *copying, links []link) error {
	for _, l := range links {
		dir := filepath.Join(c.at, filepath.FromSlash(l.rel))
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue
		}
		if err := writeLink(dir, l.text); err != nil && !(l.rel != "" && errors.Is(err, fs.ErrExist)) {
			return err
		}
		c.own.Worktree = c.own.Worktree || l.rel == ""
	}
	return nil
}

// writeLink makes a directory a git worktree. After an error it is none.
func writeLink(dir string, text []byte) error {
	f, err := os.OpenFile(filepath.Join(dir, ".git"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return sys.SyncDir(dir)
}

// dropWorktrees has the repositories of a session's own directory forget its worktrees, whose files are gone already. moved
// has the places of those that were moved since.
func (h *Home) dropWorktrees(ctx context.Context, id string, o origin, moved map[string]string) {
	for _, w := range h.worktrees(id, o) {
		root := cmp.Or(moved[w.Dir], w.Repo)
		if err := (repo.Repo{Root: root}).DropWorktree(ctx, w.Dir); err != nil { // it is gone, or knows nothing of it
			h.cfg.Log.Info("the repository of a session's worktree did not forget it", "session", id, "repository", root, "error", err)
		}
	}
}

// movedRepos are the repositories to which the worktrees of a session's own lead now, where they are not where they were.
// Those within one are where it is.
func (h *Home) movedRepos(id string, o origin) map[string]string {
	moved := map[string]string{}
	to := ""
	for _, w := range h.worktrees(id, o) {
		if _, err := os.Lstat(w.Repo); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		root := repo.MainOf(w.Dir)
		if w.Repo == o.Repo {
			to = root
		} else if rel, err := filepath.Rel(o.Repo, w.Repo); root == "" && to != "" && err == nil && filepath.IsLocal(rel) {
			root = filepath.Join(to, rel)
		}
		moved[w.Dir] = root
	}
	return moved
}
