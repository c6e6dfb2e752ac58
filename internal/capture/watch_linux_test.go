package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/blob"
)

// With too few watches, or after a rest, a hint looks at all instead, says so, and misses nothing.
func TestHintsWithoutWatches(t *testing.T) {
	blobs, err := blob.Open(filepath.Join(t.TempDir(), "blobs"), blob.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	root := t.TempDir()
	for i := range 20 {
		if err := os.Mkdir(filepath.Join(root, fmt.Sprint(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Open(root, Config{Blobs: blobs, Watch: true})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	n := 0
	hint := func(want Rung) {
		t.Helper()
		n++
		if err := os.WriteFile(filepath.Join(root, "7", "f"), fmt.Append(nil, n), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := d.Capture(t.Context(), Hint)
		if err != nil || r.Rung != want || r.Changed == 0 {
			t.Errorf("capture %d: %s with %d changes, %v; want %s", n, r.Rung, r.Changed, err, want)
		}
		_ = r.Release()
	}
	hint(Walk) // the first one
	hint(Hint)
	hint(Hint)
	d.Rest()
	if d.watch != nil {
		t.Error("watches are held at rest")
	}
	hint(Walk)
	hint(Hint)
	d.Rest()
	d.watch = newWatcher()
	d.watch.most = 5
	for range 3 {
		hint(Walk)
	}
}

// A directory that is avoided on another file system hides none here that has the same number.
func TestAvoidedDirectoriesAreOfThisFileSystem(t *testing.T) {
	root := t.TempDir()
	own := filepath.Join(root, "own")
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := Open(root, Config{Avoid: []string{"/proc", own}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if len(d.avoid) != 1 {
		t.Errorf("%d directories are avoided, want the one of this file system", len(d.avoid))
	}
}
