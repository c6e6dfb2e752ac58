package blob

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/perdure/perdure/store"
)

// putLike commits a content that is like another one, and gives the bytes that the packs took for it.
func putLike(t testing.TB, s *Store, data []byte, like store.Digest) (store.Digest, int64) {
	t.Helper()
	before := s.bytes()
	b := begin(t, s)
	d, err := b.PutLike(data, like)
	if err == nil {
		err = errors.Join(b.Commit(), b.Close())
	}
	if err != nil || d != store.Sum(data) {
		t.Fatal(d, err)
	}
	return d, s.bytes() - before
}

// kindOf is how a content is stored.
func kindOf(t testing.TB, s *Store, d store.Digest) kind {
	t.Helper()
	_, e, ok := s.find(d)
	if !ok {
		t.Fatalf("%s is not there", d)
	}
	return e.kind
}

// Goal: whatever is done to a content, a delta against what it was gives exactly what it is, in any order of edits.
func TestDeltasGiveTheContent(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range 3000 {
		base := noise(uint64(i%50), rng.IntN(6000))
		if i%3 == 0 {
			base = prose(uint64(i%50), 1+rng.IntN(6000))
		}
		data := slices.Clone(base)
		for range rng.IntN(8) {
			at, n := rng.IntN(len(data)+1), rng.IntN(200)
			switch rng.IntN(4) {
			case 0:
				data = slices.Insert(data, at, noise(rng.Uint64N(9), n)...)
			case 1:
				data = slices.Delete(data, at, min(len(data), at+n))
			case 2:
				data = append(slices.Clone(data[at:]), data[:at]...)
			default:
				copy(data[at:], bytes.Repeat([]byte{byte(n)}, n))
			}
		}
		d := store.Sum(base)
		payload, err := deltaOf(d, base, data)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := baseIn(payload); got != d || err != nil {
			t.Fatal(got, err)
		}
		if got, err := apply(payload, base, uint64(len(data))); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d: %d bytes of %d from %d: %v", i, len(got), len(data), len(base), err)
		}
	}
}

// Goal: a small change takes little, wherever it is, and blocks that moved are found.
func TestDeltasAreSmall(t *testing.T) {
	base := noise(1, 100_000)
	half := len(base) / 2
	for name, data := range map[string][]byte{
		"a line at the end":    append(slices.Clone(base), "one more line\n"...),
		"a line at the front":  append([]byte("one more line\n"), base...),
		"one byte":             edition(1, 5, len(base)),
		"halves change places": append(slices.Clone(base[half:]), base[:half]...),
		"a piece is gone":      slices.Delete(slices.Clone(base), 1000, 50_000),
		"two edits":            slices.Insert(slices.Insert(slices.Clone(base), 90_000, 'x'), 10, 'y'),
	} {
		if payload, err := deltaOf(store.Digest{1}, base, data); err != nil || len(payload) > deltaHead+60 {
			t.Errorf("%s: %d bytes, %v", name, len(payload), err)
		}
	}
}

// Goal: what stood at the very end of a base is found wherever it was moved to.
func TestTheEndOfABaseIsFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	noise := func(n int) []byte {
		out := make([]byte, n)
		for i := range out {
			out[i] = byte(rng.IntN(256))
		}
		return out
	}
	base := noise(blockLen)
	data := slices.Concat(noise(blockLen), base, noise(2*blockLen))
	payload, err := deltaOf(store.Digest{1}, base, data)
	if err != nil || len(payload) >= deltaHead+len(data) {
		t.Errorf("%d bytes for %d, %v", len(payload)-deltaHead, len(data), err)
	}
}

// Goal: a content that is like the one before it takes little room, needs one other content at most, and a base that is
// far away is replaced.
func TestPutLike(t *testing.T) {
	s := fresh(t, Config{})
	first, _ := putLike(t, s, edition(1, 0, 20_000), store.Digest{})
	last := first
	for i := 1; i < 40; i++ {
		data := edition(1, i, 20_000)
		d, took := putLike(t, s, data, last)
		if took > 400 {
			t.Fatalf("edition %d took %d bytes", i, took)
		}
		p, e, _ := s.find(d)
		if base, err := s.baseOf(p, e); e.kind != kindDelta || base != first || err != nil {
			t.Fatalf("edition %d: kind %d, base %s: %v", i, e.kind, base, err)
		}
		same(t, s, d, data)
		last = d
	}
	grown := slices.Concat(edition(1, 40, 20_000), noise(3, 30_000))
	d, _ := putLike(t, s, grown, last)
	if k := kindOf(t, s, d); k != kindRaw {
		t.Errorf("what is mostly new is of kind %d", k)
	}
	for name, like := range map[string]store.Digest{"nothing": {}, "what is not there": {1}, "a list": keep(t, s, noise(9, ChunkMin+9))[0]} {
		data := edition(1, 100+int(name[0]), 20_000)
		if d, _ := putLike(t, s, data, like); kindOf(t, s, d) != kindRaw {
			t.Errorf("like %s: kind %d", name, kindOf(t, s, d))
		}
	}
	other := openAt(t, s.disk.(*osDisk).dir, Config{})
	same(t, other, last, edition(1, 39, 20_000))
	if r, err := other.Verify(t.Context(), nil); err != nil || len(r.Damaged)+len(r.Incomplete) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Goal: a delta keeps its base, and not what the base names.
func TestSweepKeepsBases(t *testing.T) {
	s := fresh(t, Config{PackSize: 1})
	leaf := func(i int) []byte { return noise(uint64(100+i), 900) }
	var before []store.Digest
	for i := range 40 {
		before = append(before, keep(t, s, leaf(i))[0])
	}
	base, _ := putLike(t, s, treeOf(before...), store.Digest{})
	after := slices.Clone(before)
	after[20] = keep(t, s, leaf(50))[0]
	d, _ := putLike(t, s, treeOf(after...), base)
	if k := kindOf(t, s, d); k != kindDelta {
		t.Fatalf("the tree is of kind %d", k)
	}
	ev := &events{roots: map[store.Digest]bool{d: true}}
	for range 2 {
		if _, err := s.Sweep(t.Context(), ev.ask, linksIn(s), nil); err != nil {
			t.Fatal(err)
		}
		same(t, s, d, treeOf(after...))
		for _, d := range after {
			if _, err := s.Get(d); err != nil {
				t.Fatal(err)
			}
		}
		if has, err := s.Has(before[20]); has || err != nil {
			t.Errorf("what only the base names is there: %v, %v", has, err)
		}
	}
	// The base is a root of its own again: what it names counts.
	keep(t, s, leaf(20))
	ev.name(base)
	if _, err := s.Sweep(t.Context(), ev.ask, linksIn(s), nil); err != nil {
		t.Fatal(err)
	}
	same(t, s, before[20], leaf(20))
	ev.drop(base)
	ev.drop(d)
	if _, err := s.Sweep(t.Context(), ev.ask, linksIn(s), nil); err != nil {
		t.Fatal(err)
	}
	if u, err := s.Usage(); err != nil || u.Records > 0 {
		t.Errorf("%+v, %v", u, err)
	}
}

// Goal: a delta whose base went with a sweep is not taken for the content: it is stored anew, as it is.
func TestDeltaWithoutItsBase(t *testing.T) {
	s := fresh(t, Config{PackSize: 1})
	base, _ := putLike(t, s, edition(1, 0, 9000), store.Digest{})
	data := edition(1, 1, 9000)
	d, _ := putLike(t, s, data, base)
	p, _, _ := s.find(base)
	if err := s.removePack(p); err != nil {
		t.Fatal(err)
	}
	if has, err := s.Has(d); has || err != nil {
		t.Errorf("has: %v, %v", has, err)
	}
	for range 2 { // it is not damaged: whoever knows that it was swept says so
		if _, err := s.Get(d); !errors.Is(err, ErrMissing) || errors.Is(err, ErrDamaged) {
			t.Errorf("get: %v", err)
		}
		if _, _, err := s.Open(d); !errors.Is(err, ErrMissing) || errors.Is(err, ErrDamaged) {
			t.Errorf("open: %v", err)
		}
	}
	fresh := openAt(t, s.disk.(*osDisk).dir, Config{PackSize: 1})
	if r, err := fresh.Verify(t.Context(), nil); err != nil || len(r.Damaged) > 0 || !slices.Equal(r.Incomplete, []store.Digest{d}) {
		t.Errorf("%+v, %v", r, err)
	}
	b := begin(t, fresh)
	if b.Has(d) {
		t.Error("the batch has it")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	keep(t, fresh, edition(1, 2, 9000))
	if _, err := fresh.Get(d); !errors.Is(err, ErrMissing) {
		t.Errorf("get: %v", err)
	}
	if _, took := putLike(t, fresh, data, store.Sum(edition(1, 2, 9000))); took < 9000 {
		t.Errorf("it took %d bytes: a delta again", took)
	}
	same(t, fresh, d, data)
	// Whichever of the two records is found first, the content is there.
	again := openAt(t, s.disk.(*osDisk).dir, Config{})
	b = begin(t, again)
	for range 100 {
		if has, err := again.Has(d); !has || err != nil {
			t.Fatalf("stored anew, and has: %v, %v", has, err)
		}
		if !b.Has(d) {
			t.Fatal("stored anew, and the batch does not have it")
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// Goal: a root that leads to what a sweep left of a content, a delta without its base, does not end the next sweep, which
// takes it away.
func TestSweepMeetsADeltaWithoutItsBase(t *testing.T) {
	s := fresh(t, Config{PackSize: 1})
	base, _ := putLike(t, s, edition(1, 0, 9000), store.Digest{})
	d, _ := putLike(t, s, edition(1, 1, 9000), base)
	p, _, _ := s.find(base)
	if err := s.removePack(p); err != nil {
		t.Fatal(err)
	}
	kept := keep(t, s, noise(5, 900))[0]
	root := keep(t, s, treeOf(kept, d))[0]
	ev := &events{roots: map[store.Digest]bool{root: true}}
	swept, err := s.Sweep(t.Context(), ev.ask, linksIn(s), nil)
	if err != nil || swept.Removed != 1 {
		t.Fatalf("%+v, %v", swept, err)
	}
	same(t, s, kept, noise(5, 900))
	if _, err := s.Get(d); !errors.Is(err, ErrMissing) {
		t.Errorf("get: %v", err)
	}
}

// Goal: of two copies the one that can be read is given, whichever is found first; a sweep keeps that one.
func TestTwoCopiesOfOneContent(t *testing.T) {
	for i := range 8 {
		s := fresh(t, Config{PackSize: 1})
		base, _ := putLike(t, s, edition(1, i, 9000), store.Digest{})
		data := edition(1, i+1, 9000)
		d, _ := putLike(t, s, data, base)
		// Another process that had not seen it stores it, too.
		b := begin(t, s)
		k, payload, err := squeeze(data, nil)
		if err == nil {
			err = b.append(record{kind: k, stored: uint32(len(payload)), raw: uint64(len(data)), digest: d}, payload)
		}
		if err := errors.Join(err, b.Commit(), b.Close()); err != nil {
			t.Fatal(err)
		}
		on, _ := putLike(t, s, edition(1, i+2, 9000), d)
		ev := &events{roots: map[store.Digest]bool{d: true, on: true}}
		for round := range 3 {
			if _, err := s.Sweep(t.Context(), ev.ask, linksIn(s), nil); err != nil {
				t.Fatal(err)
			}
			same(t, openAt(t, s.disk.(*osDisk).dir, Config{}), d, data)
			if round == 0 {
				same(t, openAt(t, s.disk.(*osDisk).dir, Config{}), on, edition(1, i+2, 9000))
			}
			ev.drop(on)
		}
		if p, _, ok := s.find(base); ok {
			if err := s.removePack(p); err != nil {
				t.Fatal(err)
			}
		}
		same(t, openAt(t, s.disk.(*osDisk).dir, Config{}), d, data)
	}
}

// Goal: a delta is durable with its base, also one in a pack of a process that had no time to sync it, and also if it was
// there already.
func TestBasesAreDurable(t *testing.T) {
	for seed := range uint64(60) {
		m := newMachine(seed)
		base, data := edition(seed, 0, 9000), edition(seed, 1, 9000)
		first, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		keep(t, first, noise(seed+1, 40_000)) // the longest pack, which the others append to
		unsyncedIn(t, m, Config{PackSize: 1}, base)
		s, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		b := begin(t, s)
		if _, err = b.PutLike(data, store.Sum(base)); err == nil && seed%2 == 0 {
			_, err = b.PutLike(edition(seed, 2, 9000), store.Sum(data)) // which is not written yet: stored as it is
		}
		if err := errors.Join(err, b.Commit(), b.Close()); err != nil {
			t.Fatal(err)
		}
		if k := kindOf(t, s, store.Sum(data)); k != kindDelta {
			t.Fatalf("of kind %d", k)
		}
		m.powerLoss()
		again, err := openOn(m.process(0), Config{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, again, store.Sum(data), data)
	}
}

// Goal: a delta that a sweep brings into a pack with another copy of its content does not hide that one: neither one that
// has lost its base, nor one that stands where others have theirs.
func TestSweepBringsCopiesTogether(t *testing.T) {
	sweep := func(s *Store, roots ...[]byte) {
		t.Helper()
		ev := &events{roots: map[store.Digest]bool{}}
		for _, c := range roots {
			ev.name(store.Sum(c))
		}
		if _, err := s.Sweep(t.Context(), ev.ask, linksIn(s), nil); err != nil {
			t.Fatal(err)
		}
	}
	commit := func(bs ...*Batch) {
		t.Helper()
		for _, b := range bs {
			if err := errors.Join(b.Commit(), b.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 24 {
		s := fresh(t, Config{})
		base, data, next := edition(1, i, 9000), edition(1, i+1, 9000), edition(1, i+2, 9000)
		large, middle, small := noise(1, 60_000), noise(2, 50_000), noise(3, 100)
		put := func(b *Batch, c []byte, like store.Digest) *Batch {
			t.Helper()
			if _, err := b.PutLike(c, like); err != nil {
				t.Fatal(err)
			}
			return b
		}
		none := store.Digest{}
		commit(put(begin(t, s), base, none), put(begin(t, s), large, none), put(begin(t, s), middle, none)) // three packs
		commit(put(begin(t, s), data, store.Sum(base)))                                                     // with the large one
		lost := i%2 == 0
		if lost {
			sweep(s, large, middle) // the delta stays, its base goes
		} else {
			p, _, _ := s.find(store.Sum(data))
			s.distrust(p, store.Sum(data)) // as if it could not be read
		}
		busy := put(begin(t, s), small, none) // so that the next one goes to the middle one
		commit(put(begin(t, s), data, none), busy)
		if kindOf(t, s, store.Sum(data)) != kindRaw {
			continue // it looked at the delta first
		}
		roots := [][]byte{data}
		if d, _ := putLike(t, s, next, store.Sum(data)); kindOf(t, s, d) == kindDelta {
			roots = append(roots, next)
		}
		sweep(openAt(t, s.disk.(*osDisk).dir, Config{}), append(roots, middle)...)
		look := openAt(t, s.disk.(*osDisk).dir, Config{})
		for _, c := range roots {
			same(t, look, store.Sum(c), c)
		}
	}
}

// Goal: a delta of which the sweep does not know that its base stays is no reason to let another copy go.
func TestADeltaWhoseBaseMayGoKeepsNothing(t *testing.T) {
	s := fresh(t, Config{PackSize: 1})
	base, _ := putLike(t, s, edition(1, 0, 9000), store.Digest{})
	d, _ := putLike(t, s, edition(1, 1, 9000), base)
	p, e, _ := s.find(d)
	if kept, err := s.keeps(p, e, marks{d: nil}); kept || err != nil {
		t.Errorf("%v, %v", kept, err)
	}
	if kept, err := s.keeps(p, e, marks{d: nil, base: nil}); !kept || err != nil {
		t.Errorf("%v, %v", kept, err)
	}
}

// Goal: deltas that name themselves, each other, lists, nothing or bytes that are not there end with an error.
func TestAbsurdDeltas(t *testing.T) {
	d, other, c := store.Digest{9}, store.Digest{8}, noise(1, 1000)
	of := func(base store.Digest, form byte, todo ...byte) []byte {
		return append(append(append([]byte{}, base[:]...), form), todo...)
	}
	long := binary.AppendVarint(binary.AppendUvarint(nil, 1000<<1), 0)
	for name, l := range map[string]struct {
		raw     uint64
		payload []byte
	}{
		"itself":                 {1000, of(d, plainForm, long...)},
		"another delta":          {1000, of(other, plainForm, long...)},
		"what is missing":        {1000, of(store.Digest{7}, plainForm, long...)},
		"no instructions":        {1000, of(store.Sum(c), plainForm)},
		"another form":           {1000, of(store.Sum(c), 2, long...)},
		"half an instruction":    {1000, of(store.Sum(c), plainForm, long[:2]...)},
		"before the base":        {1000, of(store.Sum(c), plainForm, binary.AppendVarint(binary.AppendUvarint(nil, 10<<1), -1)...)},
		"behind the base":        {1000, of(store.Sum(c), plainForm, binary.AppendVarint(binary.AppendUvarint(nil, 10<<1), 995)...)},
		"far behind the base":    {1000, of(store.Sum(c), plainForm, binary.AppendVarint(binary.AppendUvarint(nil, 10<<1), 1<<62)...)},
		"a huge copy":            {1000, of(store.Sum(c), plainForm, binary.AppendVarint(binary.AppendUvarint(nil, 1<<63), 0)...)},
		"new bytes that are not": {1000, of(store.Sum(c), plainForm, binary.AppendUvarint(nil, 900<<1|1)...)},
		"an empty copy":          {1000, of(store.Sum(c), plainForm, 0, 0)},
		"less than it says":      {2000, of(store.Sum(c), plainForm, long...)},
		"another content":        {1000, of(store.Sum(c), plainForm, long...)},
		"a bomb of zstd":         {1000, of(store.Sum(c), zstdForm, binary.AppendUvarint(nil, 1<<40)...)},
		"no zstd":                {1000, of(store.Sum(c), zstdForm, 100, 1, 2, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, planted(t, []record{{kind: kindDelta, raw: l.raw, digest: d}, {kind: kindDelta, raw: 1000, digest: other}, {kind: kindRaw, raw: 1000, digest: store.Sum(c)}},
				[][]byte{l.payload, of(d, plainForm, long...), c}), d)
		})
	}
}

// Goal: whatever the instructions are, they give no more bytes than was said, or an error.
func FuzzDelta(f *testing.F) {
	base := prose(1, 2000)
	for i := range 3 {
		payload, err := deltaOf(store.Sum(base), base, append(edition(2, i, 300), base[100*i:]...))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload, uint64(2300-100*i))
	}
	f.Fuzz(func(t *testing.T, payload []byte, raw uint64) {
		if raw > MaxBlob {
			return
		}
		if got, err := apply(payload, base, raw); err == nil && uint64(len(got)) != raw {
			t.Errorf("%d bytes of %d", len(got), raw)
		}
	})
}

// Goal: two goroutines that put the same content, once with a base, store it once.
func TestPutLikeAtOnce(t *testing.T) {
	s := fresh(t, Config{})
	base, _ := putLike(t, s, edition(1, 0, 5000), store.Digest{})
	b := begin(t, s)
	done := make(chan error)
	for i := range 20 {
		go func() {
			_, err := b.PutLike(edition(1, 1+i%5, 5000), base)
			done <- err
		}()
	}
	for range 20 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(b.Commit(), b.Close()); err != nil {
		t.Fatal(err)
	}
	if u, err := s.Usage(); err != nil || u.Records != 6 {
		t.Errorf("%+v, %v", u, err)
	}
	for i := range 6 {
		same(t, s, store.Sum(edition(1, i, 5000)), edition(1, i, 5000))
	}
}

func BenchmarkDelta(b *testing.B) {
	for _, n := range []int{4 << 10, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(n>>10, " KiB"), func(b *testing.B) {
			base, data := prose(1, n), prose(1, n)
			for i := 0; i < n; i += n / 5 {
				data[i] ^= 1
			}
			b.SetBytes(int64(n))
			for b.Loop() {
				_, _ = deltaOf(store.Digest{}, base, data)
			}
		})
	}
}
