package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/perdure/perdure/internal/capture"
	"github.com/perdure/perdure/internal/restore"
	"github.com/perdure/perdure/internal/workspace"
	"github.com/perdure/perdure/store"
)

// Goal: ten files of 50,000 are undone in 20 ms, from the plan to the journal's end, captures apart.
func TestUndoFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	c := newCaptured(t, 50_000)
	before := c.tree()
	var took []float64
	for round := range 15 {
		c.edit(round)
		now := c.tree()
		start := time.Now()
		plan, err := restore.Make(t.Context(), restore.Input{Root: c.root, Trees: workspace.Trees(c.blobs), Base: now, Now: now, Target: before})
		if err != nil {
			t.Fatal(err)
		}
		j, err := restore.Begin(filepath.Join(c.base, "journals"), c.root, plan, restore.Config{Content: c.blobs})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := j.Run(t.Context()); err != nil || r.Modified != 10 {
			t.Fatalf("%+v %v", r, err)
		}
		if err := j.Forget(); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(start).Seconds()*1000)
	}
	t.Logf("undo of 10 files of 50,000: median %.1f ms (20)", median(took))
}

func (c *captured) tree() store.Digest {
	c.t.Helper()
	r, err := c.dir.Capture(c.t.Context(), capture.Hint)
	if err == nil {
		err = r.Release()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return r.Tree
}

// Goal: 10,000 captures of ten edits each take at most 1.3 of the compressed bytes of what is unique in them.
func TestManyCapturesFigures(t *testing.T) {
	if os.Getenv("PERDURE_BENCH") == "" {
		return
	}
	captures := 10_000
	if os.Getenv("PERDURE_BENCH") == "short" {
		captures = 500
	}
	c := newCaptured(t, 1000)
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[store.Digest]bool{}
	unique := int64(0)
	add := func(path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := store.Sum(b); !seen[d] {
			seen[d] = true
			unique += int64(len(enc.EncodeAll(b, nil)))
		}
	}
	for _, path := range c.files {
		add(path)
	}
	c.tree()
	for round := range captures {
		for i := range 10 {
			path := c.files[(round*97+i*101)%len(c.files)]
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			line := fmt.Sprintf("\nround %d of %d\n", round, i)
			if len(b) > 8000 {
				b = b[:len(b)/2]
			}
			if err := os.WriteFile(path, append(b, line...), 0o600); err != nil {
				t.Fatal(err)
			}
			add(path)
		}
		c.tree()
	}
	usage, err := c.blobs.Usage()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d captures of ten edits: %d MB, unique and compressed %d MB: %.2f (1.3)", captures, usage.Bytes>>20, unique>>20, float64(usage.Bytes)/float64(unique))
}
