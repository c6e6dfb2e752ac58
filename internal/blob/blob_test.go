package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/store"
)

// noise is that many bytes that do not compress, the same for the same seed.
func noise(seed uint64, n int) []byte {
	rng := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})
	b := make([]byte, n)
	_, _ = rng.Read(b)
	return b
}

// prose is that many bytes that compress well.
func prose(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 7))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "func f%d() error { return fmt.Errorf(%q) }\n", rng.IntN(1000), "line")
	}
	return b.Bytes()[:n]
}

// edition is the same for the same numbers, and differs by a few bytes from the other editions of it.
func edition(seed uint64, number, n int) []byte {
	b := noise(seed, n)
	copy(b[(number*97)%(n-40):], fmt.Sprintf("this is edition %d, ", number))
	return b
}

func openAt(t testing.TB, dir string, cfg Config) *Store {
	t.Helper()
	s, err := Open(dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func fresh(t testing.TB, cfg Config) *Store {
	return openAt(t, filepath.Join(t.TempDir(), "blobs"), cfg)
}

func begin(t testing.TB, s *Store) *Batch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b, err := s.Batch(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// keep commits contents.
func keep(t testing.TB, s *Store, contents ...[]byte) []store.Digest {
	t.Helper()
	b := begin(t, s)
	var ds []store.Digest
	for _, c := range contents {
		d, n, err := b.PutFrom(bytes.NewReader(c))
		if err != nil || n != int64(len(c)) || d != store.Sum(c) {
			t.Fatalf("put %d bytes: %d, %v", len(c), n, err)
		}
		ds = append(ds, d)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return ds
}

// same reads a content both ways.
func same(t testing.TB, s *Store, d store.Digest, want []byte) {
	t.Helper()
	if len(want) <= MaxBlob {
		if got, err := s.Get(d); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("get %d bytes: %d bytes, %v", len(want), len(got), err)
		}
	}
	r, n, err := s.Open(d)
	if err != nil || n != int64(len(want)) {
		t.Fatalf("open %d bytes: %d, %v", len(want), n, err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, want) || r.Close() != nil {
		t.Fatalf("read %d bytes: %d, %v", len(want), len(got), err)
	}
}

// Goal: what was put is read back, whatever its size and kind, by this store and by one that is opened later.
func TestContentsComeBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	s := openAt(t, dir, Config{})
	contents := [][]byte{
		nil,
		{7},
		prose(1, 63), prose(2, 64), prose(3, 5000), noise(4, 5000), prose(5, 100_000), noise(6, 100_000),
		prose(7, ChunkMin), prose(8, ChunkMin+1), noise(9, 3<<20), prose(10, MaxBlob), noise(11, MaxBlob+1), make([]byte, 20<<20),
	}
	ds := keep(t, s, contents...)
	again := openAt(t, dir, Config{})
	for i, d := range ds {
		same(t, s, d, contents[i])
		same(t, again, d, contents[i])
	}
	if _, err := again.Get(ds[12]); !errors.Is(err, ErrTooLarge) {
		t.Errorf("get of more than MaxBlob: %v", err)
	}
	if _, err := again.Get(store.Sum([]byte("never put"))); !errors.Is(err, ErrMissing) {
		t.Errorf("get of what is not there: %v", err)
	}
}

// Goal: Put and PutFrom of one content give one digest and one copy, also beyond the length that is kept in chunks.
func TestPutAndPutFromAgree(t *testing.T) {
	s := fresh(t, Config{})
	for _, n := range []int{0, 100, ChunkMin, ChunkMin + 1, 5 << 20} {
		data := noise(uint64(n), n)
		b := begin(t, s)
		d, err := b.Put(data)
		if err != nil || d != store.Sum(data) {
			t.Fatal(d, err)
		}
		before := b.out.size()
		if d2, _, err := b.PutFrom(bytes.NewReader(data)); err != nil || d2 != d || b.out.size() != before {
			t.Errorf("%d bytes: %v, %v, %d bytes more", n, d2, err, b.out.size()-before)
		}
		if err := errors.Join(b.Commit(), b.Close()); err != nil {
			t.Fatal(err)
		}
		same(t, s, d, data)
	}
	b := begin(t, s)
	defer func() { _ = b.Close() }()
	if _, err := b.Put(make([]byte, MaxBlob+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a put over MaxBlob: %v", err)
	}
}

// Goal: a batch that is not committed leaves nothing, and until it is committed nobody else sees its contents.
func TestNothingIsSeenBeforeCommit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	s, other := openAt(t, dir, Config{}), openAt(t, dir, Config{})
	first := keep(t, s, prose(1, 1000))[0]
	usage := func() Usage {
		u, err := s.Usage()
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	before := usage()
	b := begin(t, s)
	d, err := b.Put(noise(2, 600_000)) // more than is held back in memory
	if err != nil {
		t.Fatal(err)
	}
	for _, look := range []*Store{s, other} {
		if has, err := look.Has(d); has || err != nil {
			t.Fatalf("seen before the commit: %v, %v", has, err)
		}
	}
	if !b.Has(d) || !b.Has(first) || b.Has(store.Sum([]byte("x"))) {
		t.Error("the batch does not know what it has")
	}
	if err := errors.Join(b.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	if after := usage(); after != before {
		t.Errorf("left behind: %+v, was %+v", after, before)
	}
	if _, err := b.Put(nil); !errors.Is(err, ErrClosed) {
		t.Errorf("put after Close: %v", err)
	}
	keep(t, s, noise(2, 600_000))
	if has, err := other.Has(d); !has || err != nil {
		t.Errorf("what another store committed: %v, %v", has, err)
	}
}

// Goal: a content is kept once, within a batch, across batches, and across stores on one directory.
func TestContentsAreKeptOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	s, other := openAt(t, dir, Config{}), openAt(t, dir, Config{})
	data := [][]byte{noise(1, 1000), noise(2, 3<<20), noise(1, 1000)}
	keep(t, s, data...)
	before, err := s.Usage()
	if err != nil {
		t.Fatal(err)
	}
	keep(t, s, data...)
	keep(t, other, data...)
	keep(t, openAt(t, dir, Config{}), data...)
	if after, err := s.Usage(); err != nil || after != before {
		t.Errorf("%+v became %+v, %v", before, after, err)
	}
}

// Goal: many goroutines add to one batch, some the same contents, and many batches run at once, each in a pack of its own.
func TestManyAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "blobs")
	stores := []*Store{openAt(t, dir, Config{PackSize: 200_000}), openAt(t, dir, Config{PackSize: 200_000})}
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			b := begin(t, stores[i%2])
			var in sync.WaitGroup
			for j := range 8 {
				in.Go(func() {
					for k := range 20 {
						if _, _, err := b.PutFrom(bytes.NewReader(noise(uint64(i/2*100+j/2*20+k), 3000))); err != nil {
							t.Error(err)
						}
					}
				})
			}
			in.Wait()
			if err := errors.Join(b.Commit(), b.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := openAt(t, dir, Config{})
	for i := range 3 {
		for j := range 8 {
			for k := range 20 {
				c := noise(uint64(i*100+j/2*20+k), 3000)
				same(t, s, store.Sum(c), c)
			}
		}
	}
}

// Goal: who puts a content that another goroutine is just putting waits until it is written, so that what names a content
// always stands behind it.
func TestWhatNamesAContentStandsBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := openOn(newMachine(1).process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		b := begin(t, s)
		c := noise(1, 1000)
		d := store.Sum(c)
		if !b.begin(d) {
			t.Fatal("it is there already")
		}
		done := false
		go func() {
			if _, err := b.Put(c); err != nil {
				t.Error(err)
			}
			done = true
		}()
		synctest.Wait()
		if done {
			t.Error("it did not wait")
		}
		if err := b.append(record{kind: kindRaw, stored: 1000, raw: 1000, digest: d}, c); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !done {
			t.Error("it waits for ever")
		}
		if err := errors.Join(b.Commit(), b.Close()); err != nil {
			t.Fatal(err)
		}
		same(t, s, d, c)
	})
}

// quick bounds waits that are not expected to be any.
var quick = context.Background()
