package homes

import (
	"errors"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// doers are who may have changed what differs between two captures.
type doers struct {
	others, session bool
	unclear         bool // one of them: the session's own acts went on that nothing was captured after
}

// steps visits what changed from each capture to the next one that is still there. Where captures between them were
// thinned, the step is that of all of them.
func (h *Home) steps(all []taken, visit func(before, after store.Digest, by doers) error) error {
	err := h.walkSteps(all, func(d store.Digest) (bool, error) { return h.blobs.Has(d) }, visit)
	if !errors.Is(err, blob.ErrMissing) {
		return err
	}
	// A tree that is there may name some that are not. What was visited was right, and is visited again.
	whole := wholeTrees{workspace.Arrived(h.blobs), map[store.Digest]bool{}}
	return h.walkSteps(all, whole.is, visit)
}

func (h *Home) walkSteps(all []taken, there func(store.Digest) (bool, error), visit func(before, after store.Digest, by doers) error) error {
	var last *taken
	var by doers
	for i := range all {
		if last != nil {
			by = all[i].by(by)
		}
		ok, err := there(all[i].Tree)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if last != nil {
			if err := visit(last.Tree, all[i].Tree, by); err != nil {
				return err
			}
		}
		last, by = &all[i], doers{}
	}
	return nil
}

// wholeTrees knows of which trees all directories are there.
type wholeTrees struct {
	trees tree.Reader
	known map[store.Digest]bool
}

func (w wholeTrees) is(d store.Digest) (bool, error) {
	if known, ok := w.known[d]; ok {
		return known, nil
	}
	b, err := w.trees.Get(d)
	if errors.Is(err, blob.ErrMissing) {
		w.known[d] = false
		return false, nil
	}
	if err != nil {
		return false, err
	}
	entries, err := tree.Decode(b)
	if err != nil {
		return false, err
	}
	whole := true
	for i := 0; i < len(entries) && whole; i++ {
		if e := &entries[i]; e.Kind == tree.Dir && !e.Digest.IsZero() {
			if whole, err = w.is(e.Digest); err != nil {
				return false, err
			}
		}
	}
	w.known[d] = whole
	return whole, nil
}
