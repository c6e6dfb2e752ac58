package tree

import (
	"github.com/perdure/perdure/store"
)

// Change is a path that differs between two trees: it came (Before is nil), went (After is nil) or is another.
type Change struct {
	Path          string
	Before, After *Entry
}

// Diff visits what differs between two trees, by [Same], each directory before what is in it. A directory that came or
// went is visited with everything in it. Subtrees of one digest are not read. It ends at the first error of visit;
// bounds are those of [Walk].
func Diff(r Reader, a, b store.Digest, visit func(Change) error) error {
	return DiffMax(r, a, b, MaxWalk, visit)
}

// DiffMax is [Diff] with a bound of the caller's on the number of entries that are looked at.
func DiffMax(r Reader, a, b store.Digest, max int, visit func(Change) error) error {
	d := differ{walker: walker{r: r, left: max}, visit: visit}
	return d.dirs(a, b, "", 0)
}

type differ struct {
	walker
	visit func(Change) error
}

func (d *differ) dirs(a, b store.Digest, path string, depth int) error {
	if a == b {
		return nil
	}
	before, err := d.list(a, path, depth)
	if err != nil {
		return err
	}
	after, err := d.list(b, path, depth)
	if err != nil {
		return err
	}
	return zip([3][]Entry{before, after}, func(name string, e [3]*Entry) error {
		return d.entries(e[0], e[1], Join(path, name), depth)
	})
}

func (d *differ) entries(a, b *Entry, path string, depth int) error {
	if !Same(a, b) {
		if err := d.visit(Change{Path: path, Before: a, After: b}); err != nil {
			return err
		}
	}
	return d.dirs(a.dir(), b.dir(), path, depth+1)
}

// dir is the digest of a directory's object, zero for all else.
func (e *Entry) dir() store.Digest {
	if e == nil || e.Kind != Dir {
		return store.Digest{}
	}
	return e.Digest
}

// zip visits the names of up to three sorted lists, each name once with its entry in each list, or nil.
func zip(lists [3][]Entry, visit func(name string, e [3]*Entry) error) error {
	for {
		name, any := "", false
		for _, l := range lists {
			if len(l) > 0 && (!any || l[0].Name < name) {
				name, any = l[0].Name, true
			}
		}
		if !any {
			return nil
		}
		var e [3]*Entry
		for i, l := range lists {
			if len(l) > 0 && l[0].Name == name {
				e[i], lists[i] = &l[0], l[1:]
			}
		}
		if err := visit(name, e); err != nil {
			return err
		}
	}
}
