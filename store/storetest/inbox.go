package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/perdure/perdure/store"
)

var inboxTests = []test{
	{"order and fields", inboxOrder},
	{"same key", inboxSameKey},
	{"mark and pruning", inboxPruning},
	{"pruning by the time of draining", inboxPruningByTime},
	{"bounds", inboxBounds},
	{"many items", inboxMany},
}

func newItem(key, body string) store.Item {
	return store.Item{
		Key: key, Kind: "message.received", Actor: store.Actor{Type: store.ActorUser, ID: "u"}, Time: 5,
		Body: []byte(body), Digest: store.Sum([]byte(body)),
	}
}

// inboxOrder: items come back whole, numbered densely in the order in which they were accepted.
func inboxOrder(e *env) {
	s, other := e.open(), e.open()
	e.create(s, "a")
	e.create(s, "b")
	e.acquire(s, "a")
	var want []store.Item
	for i := range 5 {
		it := newItem(fmt.Sprint("k", i), fmt.Sprint("body ", i))
		by := []store.Store{s, other}[i%2] // A sender needs no lease.
		r, err := by.Send(e.ctx, "a", it)
		e.must(err)
		it.N = int64(i + 1)
		if r != (store.Receipt{Session: "a", N: it.N, Key: it.Key}) {
			e.Errorf("receipt %+v", r)
		}
		want = append(want, it)
	}
	r, err := s.Send(e.ctx, "b", newItem("k0", "another session has keys of its own"))
	e.must(err)
	if r.N != 1 || r.Known {
		e.Errorf("receipt %+v", r)
	}
	got, err := s.Pending(e.ctx, "a", 0, 0)
	e.must(err)
	if !reflect.DeepEqual(got, want) {
		e.Errorf("got  %+v\nwant %+v", got, want)
	}
	if info := e.get(s, "a"); info.Pending != 5 {
		e.Errorf("pending %d", info.Pending)
	}
}

// inboxSameKey: the same thing twice is accepted once, another thing under that key is refused.
func inboxSameKey(e *env) {
	s := e.open()
	e.create(s, "a")
	first, err := s.Send(e.ctx, "a", newItem("k", "x"))
	e.must(err)
	again, err := s.Send(e.ctx, "a", newItem("k", "x"))
	e.must(err)
	if !again.Known || again.N != first.N || again.Key != "k" || again.Session != "a" {
		e.Errorf("receipt %+v after %+v", again, first)
	}
	if _, err := s.Send(e.ctx, "a", newItem("k", "y")); !errors.Is(err, store.ErrKeyReused) {
		e.Errorf("another body: %v", err)
	}
	if _, err := s.Send(e.ctx, "a", newItem("", "y")); err == nil {
		e.Error("an item without a key was accepted")
	}
	if items, err := s.Pending(e.ctx, "a", 0, 0); err != nil || len(items) != 1 {
		e.Errorf("%d items, %v", len(items), err)
	}
}

// inboxPruning: what is drained still knows its key until it is pruned; numbers never come twice.
func inboxPruning(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	for i := range 3 {
		_, err := s.Send(e.ctx, "a", newItem(fmt.Sprint("k", i), "x"))
		e.must(err)
	}
	events := w.next(2)
	e.must(s.Append(e.ctx, w.lease, store.Batch{Events: events, Mark: 2}))
	if info := e.get(s, "a"); info.Mark != 2 || info.Pending != 1 {
		e.Errorf("mark %d, pending %d", info.Mark, info.Pending)
	}
	if r, err := s.Send(e.ctx, "a", newItem("k0", "x")); err != nil || !r.Known || r.N != 1 {
		e.Errorf("a drained key: %+v, %v", r, err)
	}
	if n, err := s.Prune(e.ctx, 0); err != nil || n != 0 {
		e.Errorf("pruned %d of the far past, %v", n, err)
	}
	if n, err := s.Prune(e.ctx, farFuture); err != nil || n != 2 {
		e.Errorf("pruned %d, %v", n, err)
	}
	items, err := s.Pending(e.ctx, "a", 0, 0)
	e.must(err)
	if len(items) != 1 || items[0].N != 3 {
		e.Errorf("items %+v", items)
	}
	w.accept(events)
	e.must(s.Append(e.ctx, w.lease, store.Batch{Events: w.next(1), Mark: 3}))
	if n, err := s.Prune(e.ctx, farFuture); err != nil || n != 1 {
		e.Errorf("pruned %d, %v", n, err)
	}
	if r, err := s.Send(e.ctx, "a", newItem("k0", "another")); err != nil || r.Known || r.N != 4 {
		e.Errorf("a pruned key: %+v, %v", r, err)
	}
}

// farFuture is later than everything that a test does, in ms UTC.
const farFuture = 1 << 60

// inboxPruningByTime: what counts is when an item was drained, neither when it was sent nor the time that it says.
func inboxPruningByTime(e *env) {
	s, other := e.open(), e.open()
	e.create(s, "a")
	e.create(s, "free")
	w := e.acquire(s, "a")
	for i, time := range []int64{farFuture, 5, 5} { // of k0, k1, k2
		it := newItem(fmt.Sprint("k", i), "x")
		it.Time = time
		_, err := s.Send(e.ctx, "a", it)
		e.must(err)
	}
	pruned := func(what string, before int64, want int) {
		e.Helper()
		if n, err := other.Prune(e.ctx, before); err != nil || n != want {
			e.Errorf("pruned %d %s, want %d; %v", n, what, want, err)
		}
	}
	sent := e.home.moment()
	e.must(s.Append(e.ctx, w.lease, store.Batch{Events: w.next(1), Mark: 1}))
	w.accept(w.next(1))
	pruned("before the first was drained", sent, 0)
	first := e.home.moment()
	e.must(s.Append(e.ctx, w.lease, store.Batch{Events: w.next(1), Mark: 2}))
	w.accept(w.next(1))
	brought := newItem("brought", "x")
	e.must(s.AppendFree(e.ctx, "free", store.Batch{Events: newWriter(s, store.Lease{Session: "free"}).next(1), Item: &brought}))
	pruned("before the second was drained", first, 1)
	pruned("again", first, 0)
	for i, known := range []bool{false, true, true} {
		it := newItem(fmt.Sprint("k", i), "x")
		if r, err := s.Send(e.ctx, "a", it); err != nil || r.Known != known {
			e.Errorf("%s again: %+v, %v", it.Key, r, err)
		}
	}
	pruned("after both were drained", e.home.moment(), 2)
	if items, err := s.Pending(e.ctx, "a", 0, 0); err != nil || len(items) != 2 || items[0].Key != "k2" || items[1].Key != "k0" {
		e.Errorf("what waits: %+v, %v", items, err)
	}
}

// inboxBounds: position and limit cut the list.
func inboxBounds(e *env) {
	s := e.open()
	e.create(s, "a")
	for i := range 7 {
		_, err := s.Send(e.ctx, "a", newItem(fmt.Sprint(i), "x"))
		e.must(err)
	}
	for _, tt := range []struct{ after, limit, first, n int64 }{{0, 1, 1, 1}, {0, 3, 1, 3}, {6, 1, 7, 1}, {3, 3, 4, 3}, {6, 3, 7, 1}, {7, 3, 0, 0}, {2, 0, 3, 5}} {
		items, err := s.Pending(e.ctx, "a", tt.after, int(tt.limit))
		e.must(err)
		if int64(len(items)) != tt.n || tt.n > 0 && items[0].N != tt.first {
			e.Errorf("after %d, limit %d: %d items", tt.after, tt.limit, len(items))
		}
	}
}

// inboxMany: a page has a thousand items unless fewer are asked for, and the rest comes after it.
func inboxMany(e *env) {
	s := e.open()
	e.create(s, "a")
	const n = 1003
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if _, err := s.Send(e.ctx, "a", newItem(fmt.Sprint(i), "x")); err != nil {
				e.Error(err)
			}
		})
	}
	all.Wait()
	for _, tt := range []struct{ after, limit, n int64 }{{0, 0, 1000}, {0, 1000, 1000}, {0, 999, 999}, {1000, 0, 3}, {3, 0, 1000}, {4, 0, 999}} {
		items, err := s.Pending(e.ctx, "a", tt.after, int(tt.limit))
		e.must(err)
		for i, it := range items {
			if it.N != tt.after+int64(i)+1 {
				e.Fatalf("after %d, limit %d: item %d has number %d", tt.after, tt.limit, i, it.N)
			}
		}
		if int64(len(items)) != tt.n {
			e.Errorf("after %d, limit %d: %d items", tt.after, tt.limit, len(items))
		}
	}
	if info := e.get(s, "a"); info.Pending != n {
		e.Errorf("%d items wait", info.Pending)
	}
}
