package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/blob"
	"github.com/perdure/perdure/internal/tree"
	"github.com/perdure/perdure/store"
)

// A file is written and captured again and again without a pause, always with as many bytes: each capture has what was
// written. make soak does it 100,000 times. That the test can fail is shown by believing every stamp, on a file system
// whose clock is so coarse that all happens in one tick of it.
func TestNoWriteIsTooFast(t *testing.T) {
	rounds := 2000
	if os.Getenv("PERDURE_SOAK") != "" {
		rounds = 100_000
	}
	if missed := race(t, rounds, nil); missed != 0 {
		t.Errorf("%d of %d writes were missed", missed, rounds)
	}
	if missed := race(t, rounds, func(d *Dir) { d.coarse, d.window = 1e9, 2e9 }); missed != 0 {
		t.Errorf("%d of %d writes were missed where the clock ticks once a second", missed, rounds)
	}
	if missed := race(t, 200, func(d *Dir) { d.coarse, d.window = 1e9, -1e12 }); missed == 0 {
		t.Error("stamps are believed whatever their age, and nothing was missed: this test cannot fail")
	}
}

func race(t *testing.T, rounds int, change func(*Dir)) (missed int) {
	t.Helper()
	blobs, err := blob.Open(t.TempDir(), blob.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer blobs.Close()
	root := t.TempDir()
	d, err := Open(root, Config{Blobs: blobs})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if change != nil {
		change(d)
	}
	path := filepath.Join(root, "f")
	for i := range rounds {
		text := fmt.Sprintf("%08d", i)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := d.Capture(t.Context(), Walk)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Release()
		if e, err := tree.Find(blobs, r.Tree, "f"); err != nil || e.Digest != store.Sum([]byte(text)) {
			missed++
		}
	}
	return missed
}
