package storetest

import (
	"errors"

	"github.com/perdure/perdure/store"
)

var leaseTests = []test{
	{"held by another", heldByAnother},
	{"held by ourselves", heldByOurselves},
	{"release and close free it", releaseFrees},
	{"an append gives it back", appendReleases},
	{"dead holder", deadHolder},
	{"takeover", takeover},
	{"epochs rise", epochsRise},
}

// heldByAnother: the refusal names a living holder, and so do Get and List.
func heldByAnother(e *env) {
	a, b := e.open(), e.open()
	e.create(a, "a")
	w := e.acquire(a, "a")
	_, err := b.Acquire(e.ctx, "a")
	var held *store.HeldError
	if !errors.As(err, &held) || !errors.Is(err, store.ErrHeld) {
		e.Fatalf("second acquire: %v", err)
	}
	if held.Session != "a" || held.Holder.ID != w.lease.Holder || held.Holder.Alive != store.Alive || held.Holder.PID == 0 || held.Holder.Since == 0 {
		e.Errorf("holder %+v", held)
	}
	if h := e.get(b, "a").Holder; h == nil || *h != held.Holder {
		e.Errorf("get says %+v", h)
	}
	page, err := b.List(e.ctx, store.Query{})
	e.must(err)
	if h := page.Sessions[0].Holder; h == nil || *h != held.Holder {
		e.Errorf("list says %+v", h)
	}
	e.must(w.append(e.ctx, 1))
}

// heldByOurselves: one writer means one in each process.
func heldByOurselves(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	var held *store.HeldError
	if _, err := s.Acquire(e.ctx, "a"); !errors.As(err, &held) {
		e.Fatalf("second acquire: %v", err)
	}
	if held.Holder.ID != w.lease.Holder || held.Holder.Alive != store.Alive {
		e.Errorf("holder %+v", held.Holder)
	}
	e.must(w.append(e.ctx, 1))
}

// releaseFrees: after Release or Close anybody may take the session.
func releaseFrees(e *env) {
	a, b := e.open(), e.open()
	e.create(a, "a")
	w := e.acquire(a, "a")
	e.must(w.append(e.ctx, 2))
	e.must(a.Release(e.ctx, w.lease))
	if h := e.get(a, "a").Holder; h != nil {
		e.Errorf("holder after release: %+v", h)
	}
	w2 := e.acquire(b, "a")
	if w2.head != w.head || w2.lease.Info.Bytes == 0 {
		e.Errorf("lease: %+v, want head %+v", w2.lease, w.head)
	}
	e.must(w2.append(e.ctx, 1))
	e.must(b.Close())
	if h := e.get(a, "a").Holder; h != nil {
		e.Errorf("holder after close: %+v", h)
	}
	w3 := e.acquire(a, "a")
	e.must(w3.append(e.ctx, 1))
	if got := e.log(a, "a"); len(got) != 4 {
		e.Errorf("%d events", len(got))
	}
}

// appendReleases: a batch may give the lease back, with its events or not at all.
func appendReleases(e *env) {
	a, b := e.open(), e.open()
	e.create(a, "a")
	w := e.acquire(a, "a")
	gap := w.next(2)[1:]
	if err := a.Append(e.ctx, w.lease, store.Batch{Events: gap, Release: true}); !errors.Is(err, store.ErrConflict) {
		e.Errorf("a batch that does not follow: %v", err)
	}
	e.must(w.append(e.ctx, 1))
	e.must(a.Append(e.ctx, w.lease, store.Batch{Events: w.next(1), Release: true}))
	if info := e.get(b, "a"); info.Holder != nil || info.Head.Seq != w.head.Seq+1 {
		e.Errorf("after a batch that gives the lease back: %+v", info)
	}
	if err := a.Append(e.ctx, w.lease, store.Batch{Mark: 1}); !errors.Is(err, store.ErrFenced) {
		e.Errorf("append afterwards: %v", err)
	}
	w2 := e.acquire(a, "a") // the same process may have it again
	e.must(w2.append(e.ctx, 1))
	if err := a.Append(e.ctx, w.lease, store.Batch{Events: w2.next(1), Release: true}); !errors.Is(err, store.ErrFenced) {
		e.Errorf("a batch under the lease before: %v", err)
	}
	e.must(w2.append(e.ctx, 1))
	e.must(a.Append(e.ctx, w2.lease, store.Batch{Release: true}))
	e.must(e.acquire(b, "a").append(e.ctx, 1))
}

// deadHolder: a killed holder is reported dead and replaced at once; what it had appended is there.
func deadHolder(e *env) {
	a, b := e.open(), e.open()
	e.create(a, "a")
	w := e.acquire(a, "a")
	e.must(w.append(e.ctx, 3))
	e.home.Kill(e.TB, a)
	if h := e.get(b, "a").Holder; h == nil || h.Alive != store.Dead || h.ID != w.lease.Holder {
		e.Errorf("holder %+v", h)
	}
	w2 := e.acquire(b, "a")
	if w2.head != w.head || w2.lease.Epoch != w.lease.Epoch+1 {
		e.Errorf("lease %+v after %+v", w2.lease, w.lease)
	}
	e.must(w2.append(e.ctx, 1))
	if err := w.append(e.ctx, 1); err == nil {
		e.Error("a killed store appended")
	}
	e.home.Kill(e.TB, b)
	e.must(e.open().Delete(e.ctx, "a"))
}

// takeover: by force the epoch rises though the holder lives; it is fenced.
func takeover(e *env) {
	a, b := e.open(), e.open()
	taker, ok := b.(store.Taker)
	if !ok {
		return // An optional ability.
	}
	if _, err := taker.Takeover(e.ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		e.Errorf("takeover of nothing: %v", err)
	}
	e.create(a, "a")
	w := e.acquire(a, "a")
	e.must(w.append(e.ctx, 1))
	l, err := taker.Takeover(e.ctx, "a")
	e.must(err)
	w2 := newWriter(b, l)
	if w2.head != w.head || l.Epoch != w.lease.Epoch+1 {
		e.Errorf("lease %+v", l)
	}
	if err := w.append(e.ctx, 1); !errors.Is(err, store.ErrFenced) {
		e.Errorf("append of the old holder: %v", err)
	}
	e.must(w2.append(e.ctx, 1))
	if _, err := a.Acquire(e.ctx, "a"); !errors.Is(err, store.ErrHeld) {
		e.Errorf("acquire by the old holder: %v", err)
	}
	e.must(a.Release(e.ctx, w.lease))
	e.must(w2.append(e.ctx, 1))
	// The old holder can come back in order, and is not confused by what it remembers.
	e.must(b.Release(e.ctx, l))
	e.must(e.acquire(a, "a").append(e.ctx, 1))
}

// epochsRise: every acquire has a higher epoch than all before it, over processes and reopening.
func epochsRise(e *env) {
	s := e.open()
	e.create(s, "a")
	for want := int64(1); want <= 6; want++ {
		w := e.acquire(s, "a")
		if w.lease.Epoch != want || e.get(s, "a").Epoch != want {
			e.Fatalf("epoch %d, want %d", w.lease.Epoch, want)
		}
		if want%2 == 0 {
			e.must(s.Close())
			s = e.open()
			continue
		}
		e.must(s.Release(e.ctx, w.lease))
	}
}
