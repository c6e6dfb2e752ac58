package capture_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/capture"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// What a directory knows of its files is not what is stored: after a sweep, by this process or another one, a capture
// names nothing that is gone. That holds when all went, when trees stayed without what they name, and when only
// what they name stayed.
func TestSweptContentIsKeptAgain(t *testing.T) {
	for _, again := range []bool{false, true} {
		for _, rung := range []capture.Rung{capture.Hint, capture.Walk} {
			for _, keep := range []string{"nothing", "root", "directory", "files"} {
				t.Run(fmt.Sprintf("again %t, %s, %s", again, rung, keep), func(t *testing.T) {
					w := newWorld(t, nil)
					for i := range 20 {
						w.write(fmt.Sprintf("d%d/deep/f", i%4), fmt.Sprintf("content %d", i))
					}
					w.write("top", "top")
					r := w.capture(capture.Walk)
					w.sweep(w.some(keep, r.Tree))
					if again {
						w.again()
					}
					got := w.capture(rung)
					w.same("after the sweep", w.content(got.Tree), w.plain())
					if got.Tree != r.Tree {
						t.Error("the same files are another tree")
					}
					w.write("d1/new", "new")
					w.same("and a change", w.content(w.capture(rung).Tree), w.plain())
				})
			}
		}
	}
}

// some gives the digests of a few contents.
func (w *world) some(what string, root store.Digest) []store.Digest {
	switch what {
	case "root":
		return []store.Digest{root}
	case "directory":
		return []store.Digest{w.find(root, "d1")}
	case "files":
		return []store.Digest{w.find(root, "top"), w.find(root, "d1/deep/f")}
	}
	return nil
}

func (w *world) find(root store.Digest, path string) store.Digest {
	w.t.Helper()
	e, err := tree.Find(w.blobs, root, path)
	if err != nil {
		w.t.Fatal(err)
	}
	return e.Digest
}

// sweep takes away, as another process would, all but what is named. What that leads to goes, too.
func (w *world) sweep(keep []store.Digest) {
	w.t.Helper()
	other, err := blob.Open(w.packs, blob.Config{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	roots := func(context.Context) (func(func(store.Digest) bool), error) { return slices.Values(keep), nil }
	swept, err := other.Sweep(w.t.Context(), roots, func(store.Digest) ([]store.Digest, error) { return nil, nil }, nil)
	if err != nil || swept.Freed == 0 {
		w.t.Fatal(swept, err)
	}
}
