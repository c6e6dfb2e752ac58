package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/perdure/perdure/store"
)

// A tree of these tests is "tree" and the digests that it names.
func treeOf(ds ...store.Digest) []byte {
	b := []byte("tree")
	for _, d := range ds {
		b = append(b, d[:]...)
	}
	return b
}

func linksIn(s *Store) func(store.Digest) ([]store.Digest, error) {
	return func(d store.Digest) ([]store.Digest, error) {
		b, err := s.Get(d)
		if errors.Is(err, ErrTooLarge) {
			return nil, nil
		}
		if err != nil || !bytes.HasPrefix(b, []byte("tree")) {
			return nil, err
		}
		var ds []store.Digest
		for b = b[4:]; len(b) > 0; b = b[32:] {
			ds = append(ds, store.Digest(b))
		}
		return ds, nil
	}
}

// events names contents, as a log does.
type events struct {
	mu    sync.Mutex
	roots map[store.Digest]bool
}

func (e *events) name(ds ...store.Digest) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range ds {
		e.roots[d] = true
	}
}

func (e *events) drop(d store.Digest) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.roots, d)
}

func (e *events) all() []store.Digest {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Keys(e.roots))
}

func (e *events) ask(context.Context) (func(func(store.Digest) bool), error) {
	return slices.Values(e.all()), nil
}

// Goal: what a root leads to stays, through trees and lists of chunks; all else goes, and the room with it.
func TestSweepKeepsWhatIsNamed(t *testing.T) {
	s := fresh(t, Config{PackSize: 300_000})
	ev := &events{roots: map[store.Digest]bool{}}
	large := noise(1, 3<<20)
	leaf := noise(2, 5000)
	inner := treeOf(store.Sum(leaf), store.Sum(large))
	root := treeOf(store.Sum(inner))
	var dead [][]byte
	for i := range 100 {
		dead = append(dead, noise(uint64(100+i), 20_000))
	}
	for i, c := range [][]byte{leaf, large, inner, root} { // among what dies
		keep(t, s, append(slices.Clone(dead[i*25:][:25]), c)...)
	}
	ev.name(store.Sum(root))
	calls := 0
	swept, err := s.Sweep(t.Context(), ev.ask, linksIn(s), func(done, total int64) {
		if calls++; done > total {
			t.Errorf("%d of %d", done, total)
		}
	})
	if err != nil || swept.Removed+swept.Rewritten == 0 || calls == 0 {
		t.Fatalf("%+v, %d calls, %v", swept, calls, err)
	}
	for _, c := range [][]byte{leaf, large, inner, root} {
		same(t, s, store.Sum(c), c)
	}
	u, err := s.Usage()
	if err != nil || u.Bytes > 2*int64(len(large)) {
		t.Errorf("%+v, %v", u, err)
	}
	ev.drop(store.Sum(root))
	if _, err := s.Sweep(t.Context(), ev.ask, linksIn(s), nil); err != nil {
		t.Fatal(err)
	}
	if u, err := s.Usage(); err != nil || u != (Usage{}) {
		t.Errorf("with no root there is %+v, %v", u, err)
	}
}

// Goal: a store that was never written to is swept without a trace.
func TestSweepOfNothing(t *testing.T) {
	s := fresh(t, Config{})
	ev := &events{}
	if swept, err := s.Sweep(t.Context(), ev.ask, linksIn(s), nil); err != nil || swept != (Swept{}) {
		t.Error(swept, err)
	}
}

// Goal: a large content that nothing led to, of which Sweep took the chunks and not the list, counts as missing, and is
// whole again when it is put again.
func TestWhatIsLeftOfALargeContent(t *testing.T) {
	for _, data := range [][]byte{noise(1, 3<<20), noise(1, MaxBlob+5)} {
		s := fresh(t, Config{PackSize: 500_000})
		ev := &events{roots: map[store.Digest]bool{}}
		b := begin(t, s)
		d, _, err := b.PutFrom(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		// The list is in a pack that lives.
		beside := noise(2, 800_000)
		if _, err := b.Put(beside); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.Commit(), b.Close()); err != nil {
			t.Fatal(err)
		}
		ev.name(store.Sum(beside))
		if _, err := s.Sweep(t.Context(), ev.ask, linksIn(s), nil); err != nil {
			t.Fatal(err)
		}
		if _, _, ok := s.find(d); !ok {
			t.Fatal("the list is gone, too: this shows nothing")
		}
		if has, err := s.Has(d); has || err != nil {
			t.Errorf("has: %v, %v", has, err)
		}
		if r, err := s.Verify(t.Context(), nil); err != nil || len(r.Damaged) > 0 || !slices.Equal(r.Incomplete, []store.Digest{d}) {
			t.Errorf("%+v, %v", r, err)
		}
		b = begin(t, s)
		if b.Has(d) {
			t.Error("the batch has it")
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if len(data) <= MaxBlob {
			b = begin(t, s)
			if _, err := b.Put(data); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(b.Commit(), b.Close()); err != nil {
				t.Fatal(err)
			}
		} else {
			keep(t, s, data)
		}
		same(t, s, d, data)
	}
}

// world is a machine with a log, and the contents that the log leads to.
type world struct {
	t     *testing.T
	m     *machine
	rng   *rand.Rand
	ev    *events
	known map[store.Digest][]byte // all contents that were ever made
	last  store.Digest            // the tree before, named or not
	cfg   Config
}

func (w *world) kill() int {
	if w.rng.IntN(3) > 0 {
		return 0
	}
	return 1 + w.rng.IntN(60)
}

func (w *world) open(kill int) *Store {
	s, err := openOn(w.m.process(kill), w.cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) end(s *Store) {
	p := s.disk.(*process)
	w.m.mu.Lock()
	p.die()
	w.m.mu.Unlock()
}

// batch makes some contents, known and new ones, and a tree over them that the log names if the commit returned.
func (w *world) batch() {
	s := w.open(w.kill())
	defer w.end(s)
	b, err := s.Batch(quick)
	if err != nil {
		return
	}
	var parts []store.Digest
	for range 1 + w.rng.IntN(12) {
		seed := w.rng.Uint64N(60)
		c := noise(seed, 500+int(seed)*300)
		if seed == 7 {
			c = noise(seed, ChunkMin+50_000)
		}
		d := store.Sum(c)
		w.known[d] = c
		if w.rng.IntN(2) == 0 && b.Has(d) {
			parts = append(parts, d)
			continue
		}
		if _, _, err := b.PutFrom(bytes.NewReader(c)); err != nil {
			return
		}
		parts = append(parts, d)
	}
	for range w.rng.IntN(6) {
		seed, of := 100+w.rng.Uint64N(8), w.rng.IntN(12)
		c := edition(seed, of, 3000)
		d, err := b.PutLike(c, store.Sum(edition(seed, w.rng.IntN(12), 3000)))
		if err != nil {
			return
		}
		w.known[d] = c
		parts = append(parts, d)
	}
	tree := treeOf(parts...)
	d, err := b.PutLike(tree, w.last)
	if err != nil || w.rng.IntN(6) == 0 { // or it is given up
		_ = b.Close()
		return
	}
	w.known[d], w.last = tree, d
	if b.Commit() == nil {
		w.ev.name(d)
	}
	_ = b.Close()
	if w.rng.IntN(3) == 0 {
		_ = s.Close()
	}
}

// sweep takes away what the log no longer leads to, unless it is killed.
func (w *world) sweep() {
	s := w.open(w.kill())
	defer w.end(s)
	before := w.m.used()
	w.m.most = before
	_, err := s.Sweep(quick, w.ev.ask, linksIn(s), nil)
	if extra := w.m.most - before; extra > w.cfg.PackSize {
		w.t.Errorf("sweep took %d bytes more", extra)
	}
	if err != nil {
		if !errors.Is(err, errKilled) {
			w.t.Fatal(err)
		}
		return
	}
	live := int64(0)
	for d := range w.reach() {
		live += recordHeaderLen + entryLen + int64(len(w.known[d])) + 200
	}
	if used := w.m.used(); used > 3*live+w.cfg.PackSize {
		w.t.Errorf("%d bytes are left of %d that live", used, live)
	}
}

func (w *world) reach() map[store.Digest]bool {
	all := map[store.Digest]bool{}
	for _, d := range w.ev.all() {
		all[d] = true
		for b := w.known[d][4:]; len(b) > 0; b = b[32:] {
			all[store.Digest(b)] = true
		}
	}
	return all
}

// check reads all that the log leads to, in a process that knows nothing.
func (w *world) check(what string) {
	s := w.open(0)
	defer w.end(s)
	for d := range w.reach() {
		b, err := s.Get(d)
		if err != nil || !bytes.Equal(b, w.known[d]) {
			w.t.Fatalf("after %s: %d bytes of %s: %v", what, len(w.known[d]), d, err)
		}
	}
}

// Goal: whatever is put, named, dropped, swept, killed and lost in a power failure, in any order: all that the log leads to
// can be read, and a Sweep that comes to its end leaves little else.
func TestAnyOrder(t *testing.T) {
	seeds := uint64(12)
	if os.Getenv("PERDURE_SOAK") != "" {
		seeds = 2000
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := &world{t, newMachine(seed), rand.New(rand.NewPCG(seed, 2)), &events{roots: map[store.Digest]bool{}}, map[store.Digest][]byte{}, store.Digest{}, Config{PackSize: 60_000}}
			for i := range 60 {
				what := "a batch"
				switch w.rng.IntN(10) {
				case 0, 1, 2:
					what = "a drop"
					for _, d := range w.ev.all() {
						if w.rng.IntN(2) == 0 {
							w.ev.drop(d)
						}
					}
				case 3, 4:
					what = "a sweep"
					w.sweep()
				case 5:
					what = "a power failure"
					w.m.powerLoss()
				default:
					w.batch()
				}
				w.check(fmt.Sprintf("step %d, %s", i, what))
			}
			w.batch()
			w.sweep()
		})
	}
}

// Goal: a batch that found a content there never loses it, however many sweeps run beside it. Without the lock that a
// batch holds this fails.
func TestSweepBesideBatches(t *testing.T) {
	dir := t.TempDir() + "/blobs"
	ev := &events{roots: map[store.Digest]bool{}}
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	var writers, sweepers sync.WaitGroup
	finished := make(chan struct{})
	for i := range 4 {
		s := openAt(t, dir, Config{PackSize: 50_000})
		writers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			var mine []store.Digest
			for range 40 {
				b, err := s.Batch(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				var ds []store.Digest
				for range 5 {
					seed := rng.Uint64N(30)
					d, err := b.Put(noise(seed, 4000))
					if err != nil {
						t.Error(err)
					}
					ds = append(ds, d)
				}
				if err := b.Commit(); err != nil {
					t.Error(err)
				}
				for _, d := range mine {
					ev.drop(d) // may be named by another writer, who names it again or not: then it is dead for both
				}
				ev.name(ds...)
				mine = ds
				for _, d := range ds {
					if _, err := s.Get(d); err != nil {
						t.Errorf("a content of an open batch: %v", err)
					}
				}
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	sweeps := 0
	sweepers.Go(func() {
		s := openAt(t, dir, Config{PackSize: 50_000})
		for {
			if _, err := s.Sweep(ctx, ev.ask, linksIn(s), nil); err != nil {
				t.Error(err)
				return
			}
			sweeps++
			select {
			case <-finished:
				return
			default:
			}
		}
	})
	writers.Wait()
	close(finished)
	sweepers.Wait()
	s := openAt(t, dir, Config{})
	for _, d := range ev.all() {
		if _, err := s.Get(d); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d sweeps", sweeps)
}
