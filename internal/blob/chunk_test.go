package blob

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/perdure/perdure/store"
)

func chunksOf(t testing.TB, r io.Reader) [][]byte {
	t.Helper()
	c := &chunker{r: r, buf: make([]byte, 2*chunkMost)}
	var all [][]byte
	for {
		b, err := c.next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, bytes.Clone(b))
	}
}

// Goal: chunks are the content, have lengths within their bounds and about the normal one on average, and are the same
// however the reader hands the bytes over.
func TestChunksAreTheContent(t *testing.T) {
	data := noise(1, 32<<20)
	all := chunksOf(t, bytes.NewReader(data))
	if !bytes.Equal(bytes.Join(all, nil), data) {
		t.Fatal("the chunks are not the content")
	}
	for i, c := range all {
		if len(c) > chunkMost || len(c) < chunkLeast && i+1 < len(all) {
			t.Errorf("a chunk of %d bytes", len(c))
		}
	}
	if mean := len(data) / len(all); mean < chunkNormal/2 || mean > chunkNormal*2 {
		t.Errorf("%d bytes on average", mean)
	}
	odd := chunksOf(t, iotest.HalfReader(bytes.NewReader(data)))
	if !slices.EqualFunc(all, odd, bytes.Equal) {
		t.Error("the cuts depend on the reader")
	}
	// Where the cuts are is part of what old and new stores share.
	if len(all[0]) != firstCut {
		t.Errorf("the first cut is at %d, it was at %d", len(all[0]), firstCut)
	}
}

const firstCut = 297_296 // of noise(1, …)

// Goal: a large content that changes a little, in the middle or at its ends, costs a little.
func TestAChangeCostsItsChunks(t *testing.T) {
	data := noise(1, 24<<20)
	for name, changed := range map[string][]byte{
		"a byte in the middle": slices.Concat(data[:12<<20], []byte{1}, data[12<<20+1:]),
		"bytes put in":         slices.Concat(data[:12<<20], []byte("some more"), data[12<<20:]),
		"bytes taken out":      slices.Concat(data[:12<<20], data[12<<20+5000:]),
		"bytes at the front":   slices.Concat([]byte("front"), data),
		"a log that grew":      slices.Concat(data, noise(2, 10_000)),
	} {
		t.Run(name, func(t *testing.T) {
			s := fresh(t, Config{})
			keep(t, s, data)
			before, err := s.Usage()
			if err != nil {
				t.Fatal(err)
			}
			d := keep(t, s, changed)[0]
			after, err := s.Usage()
			if cost := after.Bytes - before.Bytes; err != nil || cost > 3*chunkMost {
				t.Errorf("%d bytes, %v", cost, err)
			}
			same(t, s, d, changed)
		})
	}
}

// Goal: a content with more chunks than a list names has pages; it is read and verified like any other.
func TestPages(t *testing.T) {
	s := fresh(t, Config{})
	b := begin(t, s)
	piece := noise(1, 100)
	pd, err := b.Put(piece)
	if err != nil {
		t.Fatal(err)
	}
	const n = pageParts + 7
	whole := bytes.Repeat(piece, n)
	l := lister{batch: b}
	for range n {
		if err := l.add(part{pd, 100}); err != nil {
			t.Fatal(err)
		}
	}
	d := store.Sum(whole)
	if err := errors.Join(l.finish(d), b.Commit(), b.Close()); err != nil {
		t.Fatal(err)
	}
	same(t, s, d, whole)
	if r, err := s.Verify(t.Context(), nil); err != nil || len(r.Damaged) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	ev := &events{roots: map[store.Digest]bool{d: true}}
	none := func(store.Digest) ([]store.Digest, error) { return nil, nil }
	if swept, err := s.Sweep(t.Context(), ev.ask, none, nil); err != nil || swept.Live != 4 { // the whole, two pages, the piece
		t.Errorf("%+v, %v", swept, err)
	}
	same(t, s, d, whole)
}

// Goal: memory does not grow with a content that is put or read.
func TestMemoryIsFlat(t *testing.T) {
	s := fresh(t, Config{})
	b := begin(t, s)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const size = 400 << 20
	peak := uint64(0)
	watch := func() {
		runtime.ReadMemStats(&after)
		peak = max(peak, after.HeapInuse)
	}
	d, n, err := b.PutFrom(&watched{io.LimitReader(&pattern{block: noise(1, 1<<20)}, size), watch, 0})
	if err != nil || n != size {
		t.Fatal(n, err)
	}
	if err := errors.Join(b.Commit(), b.Close()); err != nil {
		t.Fatal(err)
	}
	r, _, err := s.Open(d)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, &watched{r, watch, 0}); err != nil || n != size {
		t.Fatal(n, err)
	}
	if grew := int64(peak) - int64(before.HeapInuse); grew > 100<<20 {
		t.Errorf("%d MiB more for a content of 400 MiB", grew>>20)
	}
}

// pattern is a block that comes again and again, each time a little different.
type pattern struct {
	block []byte
	at, n int
}

func (p *pattern) Read(b []byte) (int, error) {
	if p.at == len(p.block) {
		p.at, p.n = 0, p.n+1
		p.block[p.n*7919%len(p.block)]++
	}
	n := copy(b, p.block[p.at:])
	p.at += n
	return n, nil
}

// watched looks at the memory every 16 MiB.
type watched struct {
	r    io.Reader
	look func()
	n    int
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.r.Read(b)
	if w.n += n; w.n >= 16<<20 {
		w.n = 0
		w.look()
	}
	return n, err
}

func BenchmarkChunks(b *testing.B) {
	data := noise(1, 64<<20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		for rest := data; len(rest) > 0; {
			rest = rest[cut(rest):]
		}
	}
}
