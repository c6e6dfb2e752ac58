package homes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// captured is the store of captured files, as far as bundles need it. Its tree objects and blobs are known by the digest of
// their bytes.
type captured interface {
	// Named lists what a session's state names of it, each once: tree objects, and the blobs that may leave the
	// machine. With ignored these are also those of files that git ignores, which are counted.
	Named(ctx context.Context, st *session.State, ignored bool) (trees []store.Digest, blobs []bundle.Blob, private int, err error)
	// Open gives the bytes of a tree object or a blob.
	Open(d store.Digest) (io.ReadCloser, int64, error)
	// Begin begins to put things into it. What is put is there once it was committed, and stays for whoever names it
	// before the batch is closed.
	Begin(ctx context.Context) (capturing, error)
}

// capturing puts things into the store of captured files.
type capturing interface {
	PutFrom(content io.Reader) (store.Digest, int64, error)
	Commit() error
	Close() error
}

// errNoCaptured refuses a bundle with captured files.
var errNoCaptured = errors.New("it holds captured files, and this home keeps none")

// maxTree bounds a tree object, in bytes.
const maxTree = 64 << 20

// findCaptured lists what a session has of captured files.
func (b *bundling) findCaptured(st *session.State) (err error) {
	if b.h.cfg.captured == nil {
		return nil
	}
	defer b.h.Progress().Begin("looking at captured files", "").End()
	if b.trees, b.blobs, b.out.Private, err = b.h.cfg.captured.Named(b.ctx, st, b.Ignored); err != nil {
		return err
	}
	b.out.Trees, b.out.Blobs = int64(len(b.trees)), int64(len(b.blobs))
	for _, d := range b.trees {
		in, size, err := b.h.cfg.captured.Open(d)
		if err != nil {
			return err
		}
		b.out.TreeBytes += size
		if err := in.Close(); err != nil {
			return err
		}
	}
	for _, blob := range b.blobs {
		b.out.BlobBytes += blob.Size
	}
	return nil
}

// writeCaptured writes them.
func (b *bundling) writeCaptured(w *bundle.Writer) error {
	work := b.h.Progress().Begin("writing captured files", "")
	defer work.End()
	work.Set(0, b.out.Blobs)
	work.Sized(0, b.out.BlobBytes)
	for _, d := range b.trees {
		in, _, err := b.h.cfg.captured.Open(d)
		if err != nil {
			return err
		}
		object, err := io.ReadAll(io.LimitReader(in, maxTree))
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
		if err := w.Tree(d, object); err != nil {
			return err
		}
	}
	for _, blob := range b.blobs {
		in, _, err := b.h.cfg.captured.Open(blob.Digest)
		if err != nil {
			return err
		}
		if err := errors.Join(w.Blob(blob, in), in.Close()); err != nil {
			return fmt.Errorf("blob %s: %w", blob.Digest, err)
		}
		work.Add(1, blob.Size)
	}
	return nil
}

// keepCaptured gives what puts the bundle's captured files into the home's store, and what makes that durable and, once
// their session is there too, ends it.
func (a *Arrival) keepCaptured(ctx context.Context, to *bundle.Sink) (commit, done func() error, err error) {
	none := func() error { return nil }
	if a.Trees+a.Blobs == 0 {
		return none, none, nil
	}
	batch, err := a.h.cfg.captured.Begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	same := func(want, got store.Digest, err error) error {
		if err == nil && got != want {
			err = fmt.Errorf("%w: %s became %s", bundle.ErrFormat, want, got)
		}
		return err
	}
	to.Tree = func(d store.Digest, object []byte) error {
		got, _, err := batch.PutFrom(bytes.NewReader(object)) // that of a very large directory is kept in chunks
		return same(d, got, err)
	}
	to.Blob = func(b bundle.Blob, content io.Reader) error {
		got, _, err := batch.PutFrom(content)
		return same(b.Digest, got, err)
	}
	return batch.Commit, batch.Close, nil
}
