package blob

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/perdure/perdure/store"
)

// BenchmarkBatch puts 5,000 files of about 8 KB by two goroutines into one batch, and does what cannot be left out
// (read, hash, compress, write one file, sync) with the same files and goroutines.
func BenchmarkBatch(b *testing.B) {
	const files = 5000
	dir := b.TempDir()
	total := int64(0)
	for i := range files {
		c := prose(uint64(i), 2000+i*2%12_000)
		total += int64(len(c))
		if err := os.WriteFile(filepath.Join(dir, store.Sum(c).String()+string(rune('a'+i%26))), c, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	each := func(do func(c []byte) error) {
		var wg sync.WaitGroup
		for w := range 2 {
			wg.Go(func() {
				for i := w; i < len(names); i += 2 {
					c, err := os.ReadFile(filepath.Join(dir, names[i].Name()))
					if err == nil {
						err = do(c)
					}
					if err != nil {
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
	}
	b.Run("floor", func(b *testing.B) {
		b.SetBytes(total)
		for b.Loop() {
			var mu sync.Mutex
			var all bytes.Buffer
			each(func(c []byte) error {
				_ = store.Sum(c)
				enc, err := encoder()
				if err != nil {
					return err
				}
				out := enc.EncodeAll(c, nil)
				mu.Lock()
				defer mu.Unlock()
				_, err = all.Write(out)
				return err
			})
			f, err := os.CreateTemp(b.TempDir(), "")
			if err == nil {
				_, err = f.Write(all.Bytes())
			}
			if err != nil || flush(f) != nil || f.Close() != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("batch", func(b *testing.B) {
		b.SetBytes(total)
		for b.Loop() {
			s := fresh(b, Config{})
			batch := begin(b, s)
			each(func(c []byte) error {
				_, err := batch.Put(c)
				return err
			})
			if err := batch.Commit(); err != nil || batch.Close() != nil {
				b.Fatal(err)
			}
		}
	})
	s := fresh(b, Config{})
	var ds []store.Digest
	for i := range files {
		c := prose(uint64(i), 4000)
		ds = append(ds, store.Sum(c))
		if i%500 == 0 {
			keep(b, s, c)
		}
	}
	b.Run("has", func(b *testing.B) {
		batch := begin(b, s)
		defer func() { _ = batch.Close() }()
		for i := 0; b.Loop(); i++ {
			batch.Has(ds[i%files])
		}
	})
}
