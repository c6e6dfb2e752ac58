package homes

import (
	"fmt"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// maxUnfolded bounds the entries that a tree of a bundle stands for. One object may be named many times in it: a few
// kilobytes can stand for billions of files, and whatever compares or restores the tree goes through all of them.
const maxUnfolded = 2_000_000

// unfolding counts what the trees of a bundle stand for. They come in any order, those that name others before these too.
type unfolding struct {
	own   map[store.Digest]int64          // entries of an object
	below map[store.Digest][]store.Digest // the directories in it
	all   map[store.Digest]int64          // entries of an object with all below, at most one more than the bound
}

func newUnfolding() *unfolding {
	return &unfolding{own: map[store.Digest]int64{}, below: map[store.Digest][]store.Digest{}, all: map[store.Digest]int64{}}
}

// add takes an object, and refuses one that no capture writes: nothing that reads trees later meets one.
func (u *unfolding) add(d store.Digest, object []byte) error {
	entries, err := tree.Decode(object)
	if err != nil {
		return fmt.Errorf("%w: %w", bundle.ErrFormat, err)
	}
	if _, known := u.own[d]; known {
		return nil
	}
	u.own[d] = int64(len(entries))
	for i := range entries {
		if e := &entries[i]; e.Kind == tree.Dir && !e.Digest.IsZero() {
			u.below[d] = append(u.below[d], e.Digest)
		}
	}
	return nil
}

// check refuses trees that stand for too much.
func (u *unfolding) check() error {
	for d := range u.own {
		if u.count(d) > maxUnfolded {
			return fmt.Errorf("%w: a tree in it stands for over %d files", bundle.ErrTooLarge, maxUnfolded)
		}
	}
	return nil
}

func (u *unfolding) count(d store.Digest) int64 {
	if n, known := u.all[d]; known {
		return n
	}
	n := u.own[d]
	for _, b := range u.below[d] { // no object names itself: its name is the digest of its words
		if n = min(n+u.count(b), maxUnfolded+1); n > maxUnfolded {
			break
		}
	}
	u.all[d] = n
	return n
}
