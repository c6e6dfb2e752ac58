package storetest

import (
	"errors"

	"github.com/perdure/perdure/store"
)

// appendFreeTests are about appends without a lease.
var appendFreeTests = []test{
	{"moves the head of a session that nobody holds", testAppendFree},
	{"one key once", testAppendFreeKey},
	{"many at once", testAppendFreeMany},
}

// testAppendFree: the log grows by one commit, and neither epoch nor holder change. Who holds the session keeps it.
func testAppendFree(e *env) {
	s, other := e.open(), e.open()
	e.create(s, "a")
	w := newWriter(s, store.Lease{Session: "a"})
	heads := store.Heads{Title: "new", Lifecycle: "open"}
	e.must(s.AppendFree(e.ctx, "a", store.Batch{Events: w.next(3), Heads: &heads, Owner: "new owner"}))
	w.accept(w.next(3))
	e.must(other.AppendFree(e.ctx, "a", store.Batch{Events: w.next(2)}))
	w.accept(w.next(2))
	bytes := int64(0)
	for _, event := range w.acked {
		bytes += int64(len(event.Body))
	}
	if got := e.get(s, "a"); got.Head != w.head || got.Epoch != 0 || got.Holder != nil || got.Heads.Title != "new" ||
		got.Owner != "new owner" || got.Bytes != bytes || got.Updated != w.acked[4].Time {
		e.Errorf("row %+v, head %+v, %d bytes", got, w.head, bytes)
	}
	old := newWriter(s, store.Lease{Session: "a"})
	for name, b := range map[string]store.Batch{
		"events that do not follow": {Events: old.next(1)}, "no events": {Heads: &heads}, "a mark": {Events: w.next(1), Mark: 1},
	} {
		if err := s.AppendFree(e.ctx, "a", b); err == nil {
			e.Errorf("%s were taken", name)
		}
	}
	if err := s.AppendFree(e.ctx, "a", store.Batch{Events: old.next(1)}); !errors.Is(err, store.ErrConflict) {
		e.Errorf("events that do not follow: %v", err)
	}
	if err := s.AppendFree(e.ctx, "none", store.Batch{Events: old.next(1)}); !errors.Is(err, store.ErrNotFound) {
		e.Errorf("no such session: %v", err)
	}
	l, err := other.Acquire(e.ctx, "a")
	e.must(err)
	for _, st := range []store.Store{s, other} {
		if err := st.AppendFree(e.ctx, "a", store.Batch{Events: w.next(1)}); !errors.Is(err, store.ErrHeld) {
			e.Errorf("a held session: %v", err)
		}
	}
	e.must(other.Append(e.ctx, l, store.Batch{Events: w.next(2)}))
	w.accept(w.next(2))
	e.must(other.Release(e.ctx, l))
	e.must(s.AppendFree(e.ctx, "a", store.Batch{Events: w.next(1)}))
	w.accept(w.next(1))
	if got := e.log(s, "a"); len(got) != 8 || got[7].Hash != w.head.Hash {
		e.Errorf("the log has %d events", len(got))
	}
}

// testAppendFreeKey: under one key one append goes through, and items that wait keep their order.
func testAppendFreeKey(e *env) {
	s := e.open()
	e.create(s, "a")
	w := newWriter(s, store.Lease{Session: "a"})
	first, err := s.Send(e.ctx, "a", newItem("sent", "x"))
	e.must(err)
	item := newItem("k", "body")
	e.must(s.AppendFree(e.ctx, "a", store.Batch{Events: w.next(1), Item: &item}))
	w.accept(w.next(1))
	if err := s.AppendFree(e.ctx, "a", store.Batch{Events: w.next(1), Item: &item}); !errors.Is(err, store.ErrKnown) {
		e.Errorf("the same again: %v", err)
	}
	other := newItem("k", "another body")
	if err := s.AppendFree(e.ctx, "a", store.Batch{Events: w.next(1), Item: &other}); !errors.Is(err, store.ErrKeyReused) {
		e.Errorf("another under the same key: %v", err)
	}
	if r, err := s.Send(e.ctx, "a", item); err != nil || !r.Known {
		e.Errorf("sent under a key that was appended under: %+v, %v", r, err)
	}
	second := newItem("k2", "body")
	e.must(s.AppendFree(e.ctx, "a", store.Batch{Events: w.next(1), Item: &second}))
	w.accept(w.next(1))
	items, err := s.Pending(e.ctx, "a", 0, 0)
	e.must(err)
	if got := e.get(s, "a"); len(items) != 1 || items[0].N != first.N || got.Head != w.head || got.Pending != 1 {
		e.Errorf("pending %+v, row %+v", items, got)
	}
}

// testAppendFreeMany: of those who append at once each gets through in the end, and nothing is lost.
func testAppendFreeMany(e *env) {
	stores := []store.Store{e.open(), e.open(), e.open()}
	e.create(stores[0], "a")
	const each = 20
	errs := make(chan error, len(stores))
	for _, s := range stores {
		go func() {
			for done := 0; done < each; {
				info, err := s.Get(e.ctx, "a")
				if err == nil {
					w := newWriter(s, store.Lease{Session: "a", Info: info})
					if err = s.AppendFree(e.ctx, "a", store.Batch{Events: w.next(1)}); err == nil {
						done++
					}
				}
				if err != nil && !errors.Is(err, store.ErrConflict) {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range stores {
		e.must(<-errs)
	}
	var head store.Head
	for _, ev := range e.log(stores[0], "a") {
		e.must(store.Verify(head.Hash, "a", ev))
		head = store.Head{Seq: head.Seq + 1, Hash: ev.Hash}
	}
	if head.Seq != int64(each*len(stores)) {
		e.Errorf("%d events", head.Seq)
	}
}
