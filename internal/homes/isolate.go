package homes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/realdir"
	"github.com/perdure/perdure/internal/repo"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Directories of sessions' own are $PERDURE_HOME/isolated/SESSION/NAME, NAME being the project's. Beside it lies what it
// was made from.
const (
	isolatedDir = "isolated"
	originFile  = ".origin"
)

// maxOrigin bounds the file that says what a directory was made from, in bytes.
const maxOrigin = 64 << 10

// Own is a directory of a session's own, as it was made.
type Own struct {
	Session  string            `json:"session"`
	Dir      string            `json:"dir"`              // where the session works
	From     string            `json:"from"`             // of what it is a copy
	At       int64             `json:"at,omitempty"`     // the event that a fork was made at
	Tree     store.Digest      `json:"tree,omitzero"`    // its files, as it was made; zero: it shares its parent's directory
	Worktree bool              `json:"worktree"`         // it is in a git worktree of From's repository
	Plain    string            `json:"plain,omitempty"`  // why it is in none, though From is in a repository
	Shared   string            `json:"shared,omitempty"` // why it shares its parent's directory, though nobody asked for that
	Skipped  []session.Skipped `json:"skipped,omitempty"`
	Lacks    []string          `json:"lacks,omitempty"` // of git's, what is in From and not in it, in words for people

	of string // the session that it is a fork of; empty: it is none
}

// origin is what the home keeps of a directory of a session's own.
type origin struct {
	From  string  `json:"from"`            // the directory of the project
	Name  string  `json:"name"`            // of the directory beside this file
	Rel   string  `json:"rel,omitempty"`   // of the session's directory in it
	Repo  string  `json:"repo,omitempty"`  // the repository of which it is a worktree
	Inner []inner `json:"inner,omitempty"` // within it, of which directories of it are
}

// ownTop is the directory beside which a session's own lies, behind all links.
func (h *Home) ownTop(id string) string {
	dir := h.dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Join(dir, isolatedDir, id)
}

// ownDir is the directory of the session's own in which its root lies; empty: it works elsewhere.
func (h *Home) ownDir(id, root string) string {
	if !plainID(id) || !strings.Contains(root, "/"+isolatedDir+"/"+id+"/") {
		return ""
	}
	top := h.ownTop(id)
	rest, ok := strings.CutPrefix(root, top+"/")
	name, _, _ := strings.Cut(rest, "/")
	if !ok || name == "" || name == ".." || name == originFile {
		return ""
	}
	return filepath.Join(top, name)
}

// origin reads what a session's own directory was made from. One that is empty, as after a loss of power, is
// fs.ErrNotExist too.
func (h *Home) origin(id string) (o origin, err error) {
	root, err := realdir.Open(h.dir, isolatedDir, id)
	if err != nil {
		return o, err
	}
	defer root.Close()
	f, err := root.OpenFile(originFile, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return o, err
	}
	defer f.Close()
	b := make([]byte, maxOrigin)
	n, err := f.Read(b)
	if errors.Is(err, io.EOF) {
		return o, fmt.Errorf("%s is empty: %w", f.Name(), fs.ErrNotExist)
	}
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(b[:n], &o)
}

// ProjectOf is the directory of which a session's own directory is a copy, and any other one itself: the project whose
// settings, rules and memory hold there.
func (h *Home) ProjectOf(dir string) string {
	_, rest, ok := strings.Cut(dir, "/"+isolatedDir+"/")
	id, _, _ := strings.Cut(rest, "/")
	if !ok || h.ownDir(id, dir) == "" {
		return dir
	}
	if o, err := h.origin(id); err == nil && filepath.IsAbs(o.From) {
		return o.From
	}
	return dir
}

// CreateIsolated is [Home.Create] of a session that works in a directory of its own, made from the files of spec.Cwd as
// they are now: no other session and nobody else works in it. In a git repository it is a worktree, detached at HEAD and
// with what was staged. Errors: as Create, ErrNotCaptured.
func (h *Home) CreateIsolated(ctx context.Context, spec Spec) (Own, error) {
	if spec.ID == "" {
		spec.ID = h.eng.NewKey()
	}
	from, err := filepath.Abs(spec.Cwd)
	if err != nil || spec.Cwd == "" {
		return Own{}, fmt.Errorf("create session %s: %w: there is no directory to copy", spec.ID, errors.Join(engine.ErrSpec, err))
	}
	own := Own{Session: spec.ID, From: from}
	err = h.withOwn(ctx, &own, func(events []session.Body) error {
		spec.Cwd = own.Dir
		spec.Events = append(events, spec.Events...)
		begins, err := h.openingOf(ctx, &spec)
		if err != nil {
			return err
		}
		if _, err = h.eng.Create(ctx, spec); err == nil {
			begins.done(ctx)
		}
		return err
	})
	if err != nil {
		return Own{}, fmt.Errorf("create session %s: %w", spec.ID, err)
	}
	return own, nil
}

// withOwn makes a directory for a session that is not there yet, and then the session, by make, which is handed the events
// that its log is to have. Both are there when it returns, or nothing is: who dies in the middle leaves a plan of deletion.
func (h *Home) withOwn(ctx context.Context, own *Own, make func([]session.Body) error) error {
	id := own.Session
	switch {
	case h.spaces == nil:
		return fmt.Errorf("%w: %w", ErrNotCaptured, errOff)
	case store.CheckID(id) != nil:
		return store.CheckID(id)
	case !plainID(id):
		return fmt.Errorf("%w: no directory can have the name %s", store.ErrBadID, id)
	}
	unlock, err := h.lockDeletions(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := h.store.Get(ctx, id); !errors.Is(err, store.ErrNotFound) {
		return errors.Join(err, fmt.Errorf("session %s: %w", id, store.ErrExists))
	}
	if err := errors.Join(h.planDeletion(id), h.removeFiles(ctx, id)); err != nil {
		return err
	}
	h.step("planned")
	events, release, err := h.build(ctx, own)
	if err == nil {
		h.step("built")
		err = make(events)
		release()
	}
	if errors.Is(err, store.ErrUncertain) {
		return err // the plan stays: the next opening removes what there is
	}
	if err != nil {
		err = errors.Join(err, h.removeFiles(context.WithoutCancel(ctx), id))
	}
	return errors.Join(err, h.dropPlan(id))
}

// copying is a directory of a session's own on its way.
type copying struct {
	own  *Own
	gone bool   // own.From is not there any more
	top  string // what is copied: own.From, or what it lies in
	rel  string // of own.From in it
	repo repo.Repo
	at   string // where the copy of top is to be
	all  store.Digest
	body *session.FilesCaptured // of own.From

	trees tree.Reader
	free  []func()
}

// build makes the directory out of own.Tree, or of own.From as it is now, and gives the events that tell of it.
func (h *Home) build(ctx context.Context, own *Own) (events []session.Body, _ func(), err error) {
	c := copying{own: own, top: own.From}
	release := func() {
		for _, f := range c.free {
			f()
		}
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	if c.trees, err = h.treesOf(ctx, own.of); err != nil {
		return nil, nil, err
	}
	real, err := workspace.Where(own.From)
	if c.gone = err != nil; !c.gone {
		c.top = real // a deleted one is made again from what was captured
	}
	if err := h.take(ctx, &c); err != nil {
		return nil, nil, err
	}
	name := filepath.Base(c.top)
	if name == "/" || name == originFile {
		name = "project"
	}
	c.at = filepath.Join(h.ownTop(own.Session), name)
	links, err := h.prepare(ctx, &c, name)
	if err != nil {
		return nil, nil, err
	}
	h.step("worktrees")
	if _, err := h.spaces.MaterialiseFrom(ctx, c.at, c.trees, c.all, c.original(c.top)); err != nil {
		return nil, nil, err
	}
	own.Dir = filepath.Join(c.at, c.rel)
	if err := h.replaceOwn(ctx, &c); err != nil {
		return nil, nil, err
	}
	if err := h.writeLinks(&c, links); err != nil {
		return nil, nil, err
	}
	body, err := h.captureOf(ctx, &c, own.Dir) // what was not captured of the original is not in it
	if err != nil {
		return nil, nil, err
	}
	body.Dir, body.Why, body.Skipped = own.Dir, session.CaptureFork, c.body.Skipped
	body.Bound()
	own.Tree, own.Skipped = body.Tree, body.Skipped
	return []session.Body{body, note(ownWords(own))}, release, nil
}

// take finds the trees: of a repository as a whole, where the session's directory lies in one.
func (h *Home) take(ctx context.Context, c *copying) error {
	dir := c.top
	r, err := repo.Look(ctx, dir)
	if err != nil && !errors.Is(err, repo.ErrNone) && !c.gone {
		c.own.Plain = "its repository cannot be read: " + strings.TrimPrefix(err.Error(), "repo: ")
	}
	if err == nil && (h.ProjectOf(dir) == dir || strings.HasPrefix(r.Root, h.ownTop(""))) {
		if rel, err := filepath.Rel(r.Root, dir); err == nil && filepath.IsLocal(rel) {
			c.repo, c.top, c.rel = r, r.Root, rel
		}
	}
	if c.rel == "." {
		c.rel = ""
	}
	if !c.own.Tree.IsZero() {
		c.body = &session.FilesCaptured{Tree: c.own.Tree, Rung: session.RungWalk}
		if c.all = c.own.Tree; c.rel == "" {
			return nil
		}
	}
	all, err := h.captureOf(ctx, c, c.top)
	if err != nil && c.rel != "" { // the repository is no project's, or too large
		c.own.Plain = "its repository cannot be copied: " + err.Error()
		c.repo, c.top, c.rel = repo.Repo{}, dir, ""
		if c.body != nil {
			return nil
		}
		all, err = h.captureOf(ctx, c, dir)
	}
	if err != nil {
		return err
	}
	c.all = all.Tree
	if c.rel == "" {
		c.body = all
		return nil
	}
	below, err := tree.Find(workspace.Trees(h.blobs), all.Tree, filepath.ToSlash(c.rel))
	if err != nil || below.Kind != tree.Dir || below.Flags.Has(tree.Skipped) {
		return fmt.Errorf("%w: %s is not captured in %s", ErrNotCaptured, c.rel, c.top)
	}
	if c.body == nil {
		c.body = all
		c.body.Tree = below.Digest
	}
	return nil
}

// captureOf captures a directory for the copy.
func (h *Home) captureOf(ctx context.Context, c *copying, dir string) (*session.FilesCaptured, error) {
	got, err := h.spaces.Capture(ctx, engine.CaptureRequest{Session: c.own.Session, Dir: dir, Why: session.CaptureFork, Rung: session.RungWalk})
	if err != nil {
		return nil, usedUp(err)
	}
	if got.Release != nil { // of a refused one there is nothing to keep
		c.free = append(c.free, got.Release)
	}
	if got.Body.Refused != "" {
		return nil, fmt.Errorf("%w: %s", ErrNotCaptured, got.Body.Refused)
	}
	return got.Body, nil
}

// replaceOwn puts the wanted tree in the place of the session's directory, where only what is around it was captured now.
func (h *Home) replaceOwn(ctx context.Context, c *copying) error {
	if c.rel == "" || c.own.Tree.IsZero() {
		return nil
	}
	if err := os.RemoveAll(c.own.Dir); err != nil {
		return err
	}
	_, err := h.spaces.MaterialiseFrom(ctx, c.own.Dir, c.trees, c.own.Tree, c.original(c.own.From))
	return err
}

// original is a directory of the original, whose files the copy may share; empty: it is gone.
func (c *copying) original(dir string) string {
	if c.gone {
		return ""
	}
	return dir
}

// note tells the model something.
func note(text string) session.Body {
	return &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart(text)}}
}

// maxNotThere bounds how much of what is not in a copy is named.
const maxNotThere = 8

// ownWords is what the model is told of its directory.
func ownWords(own *Own) string {
	text := fmt.Sprintf("[This session works in a directory of its own, %q: a copy of %q. Nobody else works in it, and what is changed here changes nothing there.", own.Dir, own.From)
	if own.Worktree {
		text += " It is a git worktree, detached at the commit of the original."
	}
	if own.Plain != "" {
		text += " It is no git repository, though the original is in one: git does not work on it."
	}
	if names := own.NotThere(maxNotThere); names != "" {
		text += " Not in it: " + names + "."
	}
	return text + "]"
}

// NotThere names what is in the original and not in the copy, at most so many; empty: nothing.
func (o *Own) NotThere(most int) string {
	out := slices.Clone(o.Lacks[:min(len(o.Lacks), most)])
	for _, s := range o.Skipped {
		if s.Why == "perdure's own" {
			continue
		}
		if len(out) == most {
			out = append(out, fmt.Sprintf("and %d more", len(o.Lacks)+len(o.Skipped)-most))
			break
		}
		out = append(out, fmt.Sprintf("%q (%s)", s.Path, s.Why))
	}
	return strings.Join(out, ", ")
}

// removeOwn removes the directory of a session's own, and has its repository forget it. It may be repeated.
func (h *Home) removeOwn(ctx context.Context, id string) error {
	o, err := h.origin(id)
	if errors.Is(err, fs.ErrNotExist) {
		return h.removeDir(isolatedDir, id)
	}
	if err == nil && o.Name != "" && filepath.IsLocal(o.Name) {
		moved := h.movedRepos(id, o)
		if err := h.clearOwn(id); err != nil {
			return err
		}
		h.dropWorktrees(ctx, id, o, moved)
	}
	return h.removeDir(isolatedDir, id)
}

// clearOwn removes everything but what says where it is from. Directories that may not be written are made writable.
func (h *Home) clearOwn(id string) error {
	root, err := realdir.Open(h.dir, isolatedDir, id)
	if err != nil {
		return err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == originFile {
			continue
		}
		err := root.RemoveAll(e.Name())
		if errors.Is(err, fs.ErrPermission) {
			_ = fs.WalkDir(root.FS(), e.Name(), func(path string, d fs.DirEntry, _ error) error {
				if d != nil && d.IsDir() {
					_ = root.Chmod(path, 0o700)
				}
				return nil
			})
			err = root.RemoveAll(e.Name())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxUnapplied bounds the files that a plan of deletion names.
const maxUnapplied = 20

// ownGoes says which directory goes with a session, and what was changed in it by anybody.
func (h *Home) ownGoes(ctx context.Context, d *view.Deletion) {
	o, err := h.origin(d.ID)
	if err != nil {
		return
	}
	d.Dir = filepath.Join(h.ownTop(d.ID), o.Name)
	b, err := h.Branch(ctx, d.ID)
	if err != nil { // it cannot be read: that it goes is said all the same
		return
	}
	defer b.Release()
	_ = h.FileChanges(b.Base, b.Now.Tree, func(c tree.Change) error {
		if onlyDir(c) {
			return nil
		}
		if d.Changed = append(d.Changed, c.Path); len(d.Changed) == maxUnapplied {
			return errEnough
		}
		return nil
	})
}
