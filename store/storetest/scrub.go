package storetest

import (
	"errors"
	"reflect"
	"sync"

	"github.com/perdure/perdure/store"
)

// scrubTests are for stores that are a [store.Scrubber]; others pass them.
var scrubTests = []test{
	{"leaves the others as they are", testScrubLeaves},
	{"beside writers and readers", testScrubBeside},
}

// testScrubLeaves: what was not deleted is as it was, in this store, another one, and the next.
func testScrubLeaves(e *env) {
	s, other := e.open(), e.open()
	scrubber, ok := s.(store.Scrubber)
	if !ok {
		return
	}
	for _, id := range []string{"gone", "kept"} {
		e.create(s, id)
	}
	gone, kept := e.acquire(s, "gone"), e.acquire(s, "kept")
	e.must(gone.append(e.ctx, 40))
	e.must(kept.append(e.ctx, 40))
	e.must(s.Release(e.ctx, gone.lease))
	e.must(s.Delete(e.ctx, "gone"))
	for range 2 {
		e.must(scrubber.Scrub(e.ctx))
	}
	e.must(kept.append(e.ctx, 3))
	for _, st := range []store.Store{s, other, e.open()} {
		if !reflect.DeepEqual(e.log(st, "kept"), kept.acked) {
			e.Error("the log of the session that was kept differs")
		}
		if _, err := st.Get(e.ctx, "gone"); !errors.Is(err, store.ErrNotFound) {
			e.Errorf("the deleted session: %v", err)
		}
	}
	e.must(s.Close())
	if err := scrubber.Scrub(e.ctx); !errors.Is(err, store.ErrClosed) {
		e.Errorf("after Close: %v", err)
	}
}

// testScrubBeside: appends and reads of other sessions go on meanwhile and lose nothing.
func testScrubBeside(e *env) {
	s, other := e.open(), e.open()
	scrubber, ok := s.(store.Scrubber)
	if !ok {
		return
	}
	e.create(s, "a")
	e.create(s, "b")
	a, b := e.acquire(s, "a"), e.acquire(other, "b")
	var all sync.WaitGroup
	for _, w := range []*writer{a, b} {
		all.Go(func() {
			for range 60 {
				if err := w.append(e.ctx, 2); err != nil {
					e.Error(err)
					return
				}
			}
		})
	}
	for range 5 {
		e.must(scrubber.Scrub(e.ctx))
	}
	all.Wait()
	for _, w := range []*writer{a, b} {
		if !reflect.DeepEqual(e.log(s, w.lease.Session), w.acked) {
			e.Errorf("session %s differs from what was acknowledged", w.lease.Session)
		}
	}
}
