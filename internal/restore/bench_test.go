package restore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/perdure/perdure/internal/tree"
)

// BenchmarkTenFiles restores ten edited files of a directory of 50,000, from the plan to the finished journal, with every
// sync; the capture before it is not in it.
func BenchmarkTenFiles(b *testing.B) {
	w := newWorld(b)
	for i := range 10 {
		w.write(fmt.Sprintf("d%d/f", i), "v1")
	}
	target := w.many(w.known())
	for i := range 10 {
		w.write(fmt.Sprintf("d%d/f", i), "v2")
	}
	second := w.many(w.known())
	now, cfg := second, Config{Content: w}
	for b.Loop() {
		p, err := Make(context.Background(), Input{Root: w.root, Trees: w, Base: now, Now: now, Target: target})
		w.must(err)
		if len(p.Changes) != 10 {
			b.Fatal(p)
		}
		j, err := Begin(w.dir, w.root, p, cfg)
		w.must(err)
		_, err = j.Run(context.Background())
		w.must(err)
		w.must(j.Forget())
		now, target = target, now
	}
}

// many adds 50,000 entries that are the same in each tree and that no restore looks at.
func (w *world) many(root [32]byte) [32]byte {
	entries, err := tree.List(w, root)
	w.must(err)
	for i := range 50 {
		var files []tree.Entry
		for n := range 1000 {
			c := fmt.Sprint(i, n)
			files = append(files, tree.Entry{Name: fmt.Sprintf("f%d", n), Kind: tree.File, Mode: 0o644, Size: int64(len(c)), Digest: w.keep([]byte(c))})
		}
		entries = append(entries, tree.Entry{Name: fmt.Sprintf("many%d", i), Kind: tree.Dir, Mode: 0o755, Digest: w.keep(mustEncode(w.t, files...))})
	}
	return w.keep(mustEncode(w.t, entries...))
}

// BenchmarkMaterialise writes 50,000 small files.
func BenchmarkMaterialise(b *testing.B) {
	w := newWorld(b)
	root, n := w.many(w.known()), 0
	for b.Loop() {
		n++
		_, err := Materialise(context.Background(), filepath.Join(filepath.Dir(w.root), fmt.Sprint("new", n)), w, root, Config{Content: w})
		w.must(err)
	}
}

// BenchmarkPlan plans the deletion of 50,000 files.
func BenchmarkPlan(b *testing.B) {
	w := newWorld(b)
	empty := w.known()
	now := w.many(empty)
	for b.Loop() {
		p, err := Make(context.Background(), Input{Root: w.root, Trees: w, Base: now, Now: now, Target: empty})
		w.must(err)
		if len(p.Changes) != 50050 {
			b.Fatal(p)
		}
	}
}

// BenchmarkOneSync is what the disk takes for one new file: the unit of the others.
func BenchmarkOneSync(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		f, err := os.CreateTemp(dir, "f")
		if err != nil {
			b.Fatal(err)
		}
		_, _ = f.WriteString("x")
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		_ = f.Close()
	}
}
