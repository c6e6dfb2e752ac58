package workspace_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// Goal: a directory with so many names that its tree object is kept in chunks is made anew like any other.
func TestVeryLargeDirectoriesAreMade(t *testing.T) {
	const links = 2200
	var entries []tree.Entry
	for i := range links {
		entries = append(entries, tree.Entry{Name: fmt.Sprintf("%05d", i), Kind: tree.Link, Mode: 0o777, Target: strings.Repeat("t", 4000)})
	}
	object, err := tree.Encode(entries)
	if err != nil || len(object) <= blob.MaxBlob {
		t.Fatalf("%d bytes, %v", len(object), err)
	}
	blobs, err := blob.Open(filepath.Join(t.TempDir(), "blobs"), blob.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	batch, err := blobs.Batch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	root, _, err := batch.PutFrom(bytes.NewReader(object))
	if err == nil {
		err = batch.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := batch.Close(); err != nil {
		t.Fatal(err)
	}
	s := workspace.New(workspace.Config{Dir: t.TempDir(), Blobs: blobs})
	for name, make := range map[string]func(context.Context, string, store.Digest) (restore.Made, error){"anew": s.Make, "of one's own": func(ctx context.Context, to string, root store.Digest) (restore.Made, error) {
		return s.Materialise(ctx, to, root, "")
	}} {
		if made, err := make(t.Context(), filepath.Join(t.TempDir(), "to"), root); err != nil || made.Links != links {
			t.Errorf("%s: %+v, %v", name, made, err)
		}
	}
}
