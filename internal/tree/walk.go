package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/perdure/perdure/store"
)

// Reader gives objects by their digest. Its errors are handed on, wrapped with the directory's path.
type Reader interface {
	Get(d store.Digest) ([]byte, error)
}

// MaxWalk is how many entries are looked at where the caller gives no bound of its own.
const MaxWalk = 10_000_000

var (
	// ErrTooLarge is wrapped by errors about trees of more entries than the caller would look at, and of paths beyond
	// the bounds.
	ErrTooLarge = errors.New("the tree is too large")

	// SkipDir is what a visit returns that does not want what is in the directory that it was called for.
	SkipDir = fs.SkipDir
)

// Walk visits every entry of a tree, each directory before what is in it, by the bytes of the names. Paths are relative,
// with slashes, and made of the bytes of the names. It ends at the first error of visit, which it returns as it is.
// More than [MaxWalk] entries, or a path beyond [MaxDepth] or [MaxPath], is ErrTooLarge.
func Walk(r Reader, root store.Digest, visit func(path string, e Entry) error) error {
	return WalkMax(r, root, MaxWalk, visit)
}

// WalkMax is [Walk] with a bound of the caller's on the number of entries.
func WalkMax(r Reader, root store.Digest, max int, visit func(path string, e Entry) error) error {
	w := walker{r: r, left: max}
	return w.walk(root, "", 0, visit)
}

// walker counts what is looked at.
type walker struct {
	r    Reader
	left int
}

func (w *walker) walk(dir store.Digest, path string, depth int, visit func(string, Entry) error) error {
	entries, err := w.list(dir, path, depth)
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		at := Join(path, e.Name)
		err := visit(at, *e)
		if err == nil && e.Kind == Dir {
			err = w.walk(e.Digest, at, depth+1, visit)
		} else if e.Kind == Dir && err == SkipDir { //nolint:errorlint // a visit says exactly this
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// list gives the entries of a directory; a skipped one, whose digest is zero, has none.
func (w *walker) list(dir store.Digest, path string, depth int) ([]Entry, error) {
	if dir.IsZero() {
		return nil, nil
	}
	if depth > MaxDepth || len(path) > MaxPath {
		return nil, fmt.Errorf("directory %.200q lies %d deep: %w", path, depth, ErrTooLarge)
	}
	b, err := w.r.Get(dir)
	if err != nil {
		return nil, fmt.Errorf("directory %.200q: %w", path, err)
	}
	entries, err := Decode(b)
	if err != nil {
		return nil, fmt.Errorf("directory %.200q: %w", path, err)
	}
	if w.left -= len(entries); w.left < 0 {
		return nil, fmt.Errorf("directory %.200q: more entries than may be looked at: %w", path, ErrTooLarge)
	}
	return entries, nil
}

// List gives the entries of one directory by its digest, of which zero has none.
func List(r Reader, dir store.Digest) ([]Entry, error) {
	w := walker{r: r, left: MaxEntries}
	return w.list(dir, "", 0)
}

// Join gives the path of a name in a directory; the tree's own directory is "".
func Join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// Find gives the entry of a path. "" is the tree itself, a directory without a name. What a tree does not have, a path
// through a file or a link, and a path that is none (absolute, with empty parts, with "..") are fs.ErrNotExist.
func Find(r Reader, root store.Digest, path string) (Entry, error) {
	e := Entry{Kind: Dir, Digest: root}
	w := walker{r: r, left: MaxWalk}
	if path == "" {
		return e, nil
	}
	at := ""
	for name := range strings.SplitSeq(path, "/") {
		depth := strings.Count(at, "/")
		if e.Kind != Dir {
			return Entry{}, fmt.Errorf("%.200q in a tree: %.200q is no directory: %w", path, at, fs.ErrNotExist)
		}
		entries, err := w.list(e.Digest, at, depth)
		if err != nil {
			return Entry{}, err
		}
		i, ok := slices.BinarySearchFunc(entries, name, func(e Entry, name string) int { return strings.Compare(e.Name, name) })
		if !ok {
			return Entry{}, fmt.Errorf("%.200q in a tree: %w", path, fs.ErrNotExist)
		}
		e, at = entries[i], Join(at, name)
	}
	return e, nil
}
