package homes

import (
	"context"
	"errors"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// stayedElsewhere gives the tree that a session began with as it is to be compared with what its files are now. No bundle
// has what git ignores: of a session that came in one, such files are missing since they stayed on the other machine, and
// not since the session deleted them. They are left out of what it began with, so that they are deleted nowhere. What is
// written for that is kept from sweeps until release is called.
func (h *Home) stayedElsewhere(ctx context.Context, id string, began, now store.Digest) (_ store.Digest, release func(), err error) {
	came, err := h.cameInABundle(ctx, id)
	elsewhere := came
	if err == nil && !came {
		elsewhere, err = h.fromElsewhere(ctx, id)
	}
	if err != nil || !elsewhere || h.blobs == nil {
		return began, func() {}, err
	}
	b, err := h.blobs.Batch(ctx)
	if err != nil {
		return began, nil, err
	}
	w := without{ctx: ctx, trees: workspace.Trees(h.blobs), put: b.Put}
	if !came { // it was forked here: what it could delete is what the home has
		w.blobs = h.blobs
	}
	began, err = w.dir(began, now, 0)
	if err == nil {
		err = b.Commit()
	}
	if err != nil {
		return began, nil, errors.Join(err, b.Close())
	}
	return began, func() { _ = b.Close() }, nil
}

// cameInABundle reports whether a session was imported here; one that was forked here from such a session was not.
func (h *Home) cameInABundle(ctx context.Context, id string) (bool, error) {
	for _, err := range h.Range(ctx, id, Range{Kinds: []store.Kind{session.KindImported}, Reverse: true}) {
		return err == nil, err
	}
	return false, nil
}

// fromElsewhere reports whether a session, or one that it was forked from, was imported here: trees that it knows may
// have been captured in another home.
func (h *Home) fromElsewhere(ctx context.Context, id string) (bool, error) {
	for range maxFamily {
		came, err := h.cameInABundle(ctx, id)
		if errors.As(err, new(*store.CorruptError)) {
			return true, nil // a damaged log does not say that it was not
		}
		if came || err != nil {
			return came, err
		}
		info, err := h.store.Get(ctx, id)
		if err != nil || info.Parent == nil {
			return false, err
		}
		id = info.Parent.Session
	}
	return false, nil
}

// treesOf reads the trees that a session knows.
func (h *Home) treesOf(ctx context.Context, id string) (tree.Reader, error) {
	if id == "" {
		return workspace.Trees(h.blobs), nil
	}
	elsewhere, err := h.fromElsewhere(ctx, id)
	if err != nil || !elsewhere {
		return workspace.Trees(h.blobs), err
	}
	return workspace.Arrived(h.blobs), nil
}

// without writes trees without what git ignores in them and another tree has not.
type without struct {
	ctx   context.Context //nolint:containedctx // of one call
	trees tree.Reader
	put   func([]byte) (store.Digest, error)
	blobs *blob.Store // not nil: only what these have not
}

// dir is a directory's tree object without them. An ignored directory that is not as it was is left out as a whole: whether
// what is missing in it was deleted here, nobody can tell.
func (w *without) dir(d, now store.Digest, depth int) (store.Digest, error) {
	if d.IsZero() || d == now {
		return d, nil
	}
	if depth > tree.MaxDepth {
		return d, tree.ErrTooLarge
	}
	entries, err := tree.List(w.trees, d)
	if err == nil {
		err = w.ctx.Err()
	}
	if err != nil {
		return d, err
	}
	there := map[string]tree.Entry{}
	if !now.IsZero() {
		all, err := tree.List(w.trees, now)
		if err != nil {
			return d, err
		}
		for _, e := range all {
			there[e.Name] = e
		}
	}
	kept := entries[:0]
	for _, e := range entries {
		is, ok := there[e.Name]
		stayed := e.Flags.Has(tree.Private) && (!ok || e.Kind == tree.Dir && e.Digest != is.Digest)
		if w.blobs != nil {
			if stayed, err = workspace.Stayed(w.blobs, e); err != nil {
				return d, err
			}
		}
		switch {
		case stayed:
			continue
		case e.Kind == tree.Dir && !e.Flags.Has(tree.Skipped):
			var below store.Digest
			if is.Kind == tree.Dir {
				below = is.Digest
			}
			if e.Digest, err = w.dir(e.Digest, below, depth+1); err != nil {
				return d, err
			}
		}
		kept = append(kept, e)
	}
	raw, err := tree.Encode(kept)
	if err != nil {
		return d, err
	}
	return w.put(raw)
}
