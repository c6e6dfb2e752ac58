package workspace

import (
	"context"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// asHere reads trees that came from another home. What git ignores of them stayed there, so nobody knows here what it
// was: it is as it is here, and a restore neither misses it nor changes anything in its place. The trees that say so
// are made in memory, for the directories in which something stayed.
type asHere struct {
	ctx   context.Context //nolint:containedctx // of one plan
	blobs *blob.Store
	made  map[store.Digest][]byte
}

// Get reads a tree object.
func (a asHere) Get(d store.Digest) ([]byte, error) {
	if b, ok := a.made[d]; ok {
		return b, nil
	}
	return Trees(a.blobs).Get(d)
}

// dir gives a directory's tree with what stayed elsewhere as it is in now.
func (a asHere) dir(d, now store.Digest, depth int) (store.Digest, error) {
	if d.IsZero() || d == now {
		return d, nil
	}
	if depth > tree.MaxDepth {
		return d, tree.ErrTooLarge
	}
	entries, err := tree.List(a, d)
	if err == nil {
		err = a.ctx.Err()
	}
	if err != nil {
		return d, err
	}
	here := map[string]tree.Entry{}
	if !now.IsZero() {
		all, err := tree.List(a, now)
		if err != nil {
			return d, err
		}
		for _, e := range all {
			here[e.Name] = e
		}
	}
	out, other := make([]tree.Entry, 0, len(entries)), false
	for _, e := range entries {
		is, there := here[e.Name]
		stayed, err := Stayed(a.blobs, e)
		if err == nil && !stayed && e.Kind == tree.Dir && !e.Flags.Has(tree.Skipped) {
			below, was := store.Digest{}, e.Digest
			if is.Kind == tree.Dir {
				below = is.Digest
			}
			e.Digest, err = a.dir(was, below, depth+1)
			other = other || e.Digest != was
		}
		if err != nil {
			return d, err
		}
		if stayed {
			other = true
			if !there {
				continue
			}
			e = is
		}
		out = append(out, e)
	}
	if !other {
		return d, nil
	}
	raw, err := tree.Encode(out)
	if err != nil {
		return d, err
	}
	d = store.Sum(raw)
	a.made[d] = raw
	return d, nil
}

// Stayed reports an entry that git ignores, of which the home has no content: it stayed where the tree comes from.
func Stayed(blobs *blob.Store, e tree.Entry) (bool, error) {
	if !e.Flags.Has(tree.Private) || e.Flags.Has(tree.Skipped) || e.Digest.IsZero() {
		return false, nil
	}
	has, err := blobs.Has(e.Digest)
	return err == nil && !has, err
}

// Arrived reads trees without what stayed where they come from.
func Arrived(blobs *blob.Store) tree.Reader { return arrived{blobs} }

type arrived struct{ blobs *blob.Store }

func (a arrived) Get(d store.Digest) ([]byte, error) {
	raw, err := Trees(a.blobs).Get(d)
	if err != nil {
		return nil, err
	}
	entries, err := tree.Decode(raw)
	if err != nil {
		return nil, err
	}
	kept := make([]tree.Entry, 0, len(entries))
	for _, e := range entries {
		stayed, err := Stayed(a.blobs, e)
		if err != nil {
			return nil, err
		}
		if !stayed {
			kept = append(kept, e)
		}
	}
	if len(kept) == len(entries) {
		return raw, nil
	}
	return tree.Encode(kept)
}
