package homes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// bundledFiles are the captured files of the home, as bundles need them.
type bundledFiles struct {
	h     *Home
	blobs *blob.Store
}

// Named lists the newest tree, those that undo and checkpoints go back to, and artifacts. What git ignores is named by its
// directory's tree object, and its content is left out unless it is asked for: it stays on this machine.
func (f bundledFiles) Named(ctx context.Context, st *session.State, ignored bool) ([]store.Digest, []bundle.Blob, int, error) {
	trees, err := f.h.treesOf(ctx, st.ID)
	if err != nil {
		return nil, nil, 0, err
	}
	n := naming{ctx: ctx, blobs: f.blobs, trees: trees, all: ignored, seen: map[store.Digest]bool{}}
	w := &st.Workspace
	roots := []store.Digest{w.Tree}
	for _, p := range w.Points {
		roots = append(roots, p.Tree)
	}
	for _, c := range w.Checkpoints {
		roots = append(roots, c.Tree)
	}
	for _, root := range roots {
		if err := n.dir(root, 0); err != nil {
			return nil, nil, 0, fmt.Errorf("captured files: %w", err)
		}
	}
	for _, a := range w.Artifacts {
		if err := n.content(a.Digest); err != nil {
			return nil, nil, 0, fmt.Errorf("artifact %q: %w", a.Name, err)
		}
	}
	return n.dirs, n.files, n.private, nil
}

// naming lists tree objects and blobs, each once.
type naming struct {
	ctx   context.Context //nolint:containedctx // of one call
	blobs *blob.Store
	trees tree.Reader
	all   bool // what git ignores, too
	seen  map[store.Digest]bool
	dirs  []store.Digest
	files []bundle.Blob

	private int // contents of ignored files, and ignored directories
}

func (n *naming) dir(d store.Digest, depth int) error {
	if d.IsZero() || n.seen[d] {
		return nil
	}
	if depth > tree.MaxDepth {
		return tree.ErrTooLarge
	}
	n.seen[d] = true
	n.dirs = append(n.dirs, d)
	entries, err := tree.List(n.trees, d)
	if err == nil {
		err = n.ctx.Err()
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Flags.Has(tree.Private) && !n.all || e.Flags.Has(tree.Skipped) || e.Digest.IsZero() {
			continue
		}
		if e.Flags.Has(tree.Private) && !n.seen[e.Digest] {
			n.private++
		}
		switch {
		case e.Kind == tree.Dir:
			err = n.dir(e.Digest, depth+1)
		case e.Kind == tree.File:
			err = n.content(e.Digest)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (n *naming) content(d store.Digest) error {
	if n.seen[d] {
		return nil
	}
	n.seen[d] = true
	in, size, err := n.blobs.Open(d)
	if err != nil {
		return err
	}
	n.files = append(n.files, bundle.Blob{Digest: d, Size: size})
	return in.Close()
}

// Open gives the bytes of a tree object or a blob.
func (f bundledFiles) Open(d store.Digest) (io.ReadCloser, int64, error) { return f.blobs.Open(d) }

// Begin begins to put things into the store.
func (f bundledFiles) Begin(ctx context.Context) (capturing, error) { return f.blobs.Batch(ctx) }

// trees reads the trees of the bundle as they are to be written.
func (a *Arrival) trees() tree.Reader {
	if a.Ignored {
		return workspace.Arrived(a.h.blobs)
	}
	return publicTrees{a.h.blobs}
}

// publicTrees reads trees without what git ignores in them.
type publicTrees struct{ blobs *blob.Store }

// Get gives a tree object.
func (p publicTrees) Get(d store.Digest) ([]byte, error) {
	entries, err := tree.List(workspace.Trees(p.blobs), d)
	if err != nil {
		return nil, err
	}
	return tree.Encode(slices.DeleteFunc(entries, func(e tree.Entry) bool { return e.Flags.Has(tree.Private) }))
}

// Files writes the files of an imported session, as they were captured last, into its directory, if that is missing or
// empty. ok is false if it is not, or there are none. They are there as a whole, or not at all.
func (a *Arrival) Files(ctx context.Context, dir string) (made restore.Made, ok bool, err error) {
	root := a.State.Workspace.Tree
	if root.IsZero() || a.h.blobs == nil || a.Trees == 0 {
		return made, false, nil
	}
	if err := a.boundFiles(ctx, root); err != nil {
		return made, false, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return made, false, err
	}
	made, err = a.h.spaces.MaterialiseFrom(ctx, dir, a.trees(), root, "")
	if errors.Is(err, restore.ErrTaken) {
		return made, false, nil
	}
	if err == nil {
		a.capture(ctx, dir)
	}
	return made, err == nil, err
}

// capture has the log say what was written: from then on it is known what the session's files are here, so that its
// turns can be undone. What fails is for the next capture to find.
func (a *Arrival) capture(ctx context.Context, dir string) {
	err := func() error {
		st, err := a.h.State(ctx, a.Session)
		if err != nil || filesDir(st) != dir || st.Workspace.Dir == dir {
			return err
		}
		got, err := a.h.cfg.captures.Capture(ctx, engine.CaptureRequest{Session: a.Session, Dir: dir, Why: session.CaptureResume, Rung: session.RungWalk})
		if err != nil {
			return err
		}
		if got.Release != nil {
			defer got.Release()
		}
		b := got.Body
		if b == nil || b.Tree.IsZero() {
			return nil
		}
		b.Dir, b.Why, b.Skipped, b.Torn, b.Repos = dir, session.CaptureResume, nil, nil, nil // of names nothing new is known
		_, err = a.h.Append(ctx, a.Session, AppendOptions{Expect: &st.Head}, store.Actor{Type: store.ActorEngine}, b)
		return err
	}()
	if err != nil {
		a.h.cfg.Log.Warn("the files of an imported session were not captured", "session", a.Session, "error", err)
	}
}

// maxWritten bounds the entries of a tree that is written by an import.
const maxWritten = 1_000_000

// boundFiles refuses a tree that unfolds into more than is taken: one object may be named many times in it.
func (a *Arrival) boundFiles(ctx context.Context, root store.Digest) error {
	most, sizes := a.limits.Usual().Bytes, map[store.Digest]int64{}
	total := int64(0)
	err := tree.WalkMax(a.trees(), root, maxWritten, func(_ string, e tree.Entry) error {
		if e.Kind != tree.File || e.Flags.Has(tree.Skipped) {
			return ctx.Err()
		}
		if _, known := sizes[e.Digest]; !known {
			in, size, err := a.h.blobs.Open(e.Digest)
			if err != nil {
				return err
			}
			sizes[e.Digest] = size
			if err := in.Close(); err != nil {
				return err
			}
		}
		if total += sizes[e.Digest]; total > most {
			return fmt.Errorf("%w: its files are more than %d bytes", bundle.ErrTooLarge, most)
		}
		return nil
	})
	if errors.Is(err, tree.ErrTooLarge) {
		err = fmt.Errorf("%w: its files are more than %d", bundle.ErrTooLarge, maxWritten)
	}
	return err
}
