package workspace

import (
	"errors"
	"fmt"
	"io"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// maxObject bounds a tree object that is read, in bytes: that of a directory with a million entries.
const maxObject = 256 << 20

// Trees reads tree objects from blobs, those of very large directories too, which are kept in chunks.
func Trees(blobs *blob.Store) tree.Reader { return objects{blobs} }

type objects struct{ blobs *blob.Store }

func (o objects) Get(d store.Digest) ([]byte, error) {
	b, err := o.blobs.Get(d)
	if !errors.Is(err, blob.ErrTooLarge) {
		return b, err
	}
	r, size, err := o.blobs.Open(d)
	if err != nil {
		return nil, err
	}
	if size > maxObject {
		return nil, errors.Join(fmt.Errorf("a tree object of %d bytes: %w", size, blob.ErrTooLarge), r.Close())
	}
	b, err = io.ReadAll(r)
	return b, errors.Join(err, r.Close())
}
