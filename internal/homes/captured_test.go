package homes_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"testing"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/forge"
	"github.com/perdure/perdure/store"
)

// kept is a store of captured files in memory, with one tree and blobs.
type kept struct {
	all   map[store.Digest][]byte
	trees []store.Digest
	steps []string
}

func (k *kept) Named(context.Context, *session.State, bool) ([]store.Digest, []bundle.Blob, int, error) {
	var blobs []bundle.Blob
	for d, b := range k.all {
		if !slices.Contains(k.trees, d) {
			blobs = append(blobs, bundle.Blob{Digest: d, Size: int64(len(b))})
		}
	}
	return k.trees, blobs, 0, nil
}

func (k *kept) Open(d store.Digest) (io.ReadCloser, int64, error) {
	return io.NopCloser(bytes.NewReader(k.all[d])), int64(len(k.all[d])), nil
}

func (k *kept) Begin(context.Context) (homes.Capturing, error) { return k, nil }

func (k *kept) Put(object []byte) (store.Digest, error) {
	d := store.Sum(object)
	k.all[d] = bytes.Clone(object)
	return d, nil
}

func (k *kept) PutFrom(content io.Reader) (store.Digest, int64, error) {
	b, err := io.ReadAll(content)
	d, _ := k.Put(b)
	return d, int64(len(b)), err
}

func (k *kept) Commit() error { k.steps = append(k.steps, "commit"); return nil }
func (k *kept) Close() error  { k.steps = append(k.steps, "close"); return nil }

// Captured files go with their session, and are durable before it is there; a home that keeps none refuses them.
func TestCapturedFilesMove(t *testing.T) {
	open := func(k homes.Captured) *homes.Home {
		h, err := homes.Open(t.Context(), t.TempDir(), homes.WithCaptured(homes.Config{}, k))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		return h
	}
	was := &kept{all: map[store.Digest][]byte{}}
	tree, _ := was.Put(forge.Object())
	was.trees = []store.Digest{tree}
	_, _ = was.Put([]byte("a blob"))
	_, _ = was.Put(bytes.Repeat([]byte("large"), 1<<20))
	from := open(was)
	if _, err := from.Create(t.Context(), engine.Spec{ID: "s", Agent: session.Agent{Provider: "none"}}); err != nil {
		t.Fatal(err)
	}
	b, _ := packed(t, from, "s", homes.BundleOptions{})
	is := &kept{all: map[store.Digest][]byte{}}
	to := open(is)
	if err := received(t, to, b).Import(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if !maps.EqualFunc(was.all, is.all, bytes.Equal) || !slices.Equal(is.steps, []string{"commit", "close"}) {
		t.Errorf("%d of %d arrived, %q", len(is.all), len(was.all), is.steps)
	}
	none := open(nil)
	if _, err := none.Receive(t.Context(), bytes.NewReader(b), bundle.Limits{}); err == nil {
		t.Error("a home without captured files takes them")
	}
	if _, err := none.Store().Get(t.Context(), "s"); !errors.Is(err, store.ErrNotFound) {
		t.Error(err)
	}
}
