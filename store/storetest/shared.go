package storetest

import (
	"bytes"
	"errors"
	"reflect"

	"github.com/perdure/perdure/store"
)

// sharedTests are about values that sessions share.
var sharedTests = []test{
	{"set with the events, or not at all", testShared},
	{"a scope is bounded", testSharedBound},
}

func (e *env) shared(s store.Store, scope string) map[string][]byte {
	e.Helper()
	values, err := s.Shared(e.ctx, scope)
	e.must(err)
	return values
}

// testShared: values come with the commit that sets them, from whichever session, and stay when it is deleted.
func testShared(e *env) {
	s, other := e.open(), e.open()
	e.create(s, "a")
	if got := e.shared(s, "app"); len(got) != 0 {
		e.Errorf("at first there is %v", got)
	}
	e.must(s.Create(e.ctx, store.NewSession{ID: "b", Shared: []store.Shared{{Scope: "made", Key: "k", Value: []byte("v")}}}))
	if err := s.Create(e.ctx, store.NewSession{ID: "b", Shared: []store.Shared{{Scope: "made", Key: "k", Value: []byte("no")}}}); !errors.Is(err, store.ErrExists) {
		e.Errorf("made twice: %v", err)
	}
	if got := e.shared(s, "made"); string(got["k"]) != "v" {
		e.Errorf("made with: %q", got)
	}
	set := func(scope, key, value string) store.Shared {
		return store.Shared{Scope: scope, Key: key, Value: []byte(value)}
	}
	w := newWriter(s, store.Lease{Session: "a"})
	e.must(s.AppendFree(e.ctx, "a", store.Batch{Events: w.next(1), Shared: []store.Shared{
		set("app", "k", "1"), set("app", "empty", ""), set("user", "k", "2"), set("app", "gone", "x"),
	}}))
	w.accept(w.next(1))
	bad := newWriter(s, store.Lease{Session: "a"})
	if err := s.AppendFree(e.ctx, "a", store.Batch{Events: bad.next(1), Shared: []store.Shared{set("app", "k", "no")}}); !errors.Is(err, store.ErrConflict) {
		e.Errorf("a batch that does not follow: %v", err)
	}
	l, err := other.Acquire(e.ctx, "a")
	e.must(err)
	e.must(other.Append(e.ctx, l, store.Batch{Events: w.next(1), Shared: []store.Shared{set("app", "k", "3"), {Scope: "app", Key: "gone"}}}))
	e.must(other.Release(e.ctx, l))
	want := map[string][]byte{"k": []byte("3"), "empty": {}}
	for _, st := range []store.Store{s, other, e.open()} {
		if got := e.shared(st, "app"); !reflect.DeepEqual(got, want) {
			e.Errorf("app: %q", got)
		}
	}
	e.must(s.Delete(e.ctx, "a"))
	if got := e.shared(s, "user"); string(got["k"]) != "2" {
		e.Errorf("user: %q", got)
	}
}

// testSharedBound: what would make a scope too large is refused with its events.
func testSharedBound(e *env) {
	s := e.open()
	e.create(s, "a")
	w := newWriter(s, store.Lease{Session: "a"})
	half := bytes.Repeat([]byte("x"), store.MaxShared/2)
	e.must(s.AppendFree(e.ctx, "a", store.Batch{Events: w.next(1), Shared: []store.Shared{{Scope: "app", Key: "1", Value: half}}}))
	w.accept(w.next(1))
	item := newItem("k", "x")
	err := s.AppendFree(e.ctx, "a", store.Batch{Events: w.next(1), Item: &item, Shared: []store.Shared{{Scope: "app", Key: "2", Value: half}}})
	if !errors.Is(err, store.ErrSharedFull) {
		e.Errorf("too much: %v", err)
	}
	e.must(s.AppendFree(e.ctx, "a", store.Batch{Events: w.next(1), Item: &item, Shared: []store.Shared{
		{Scope: "app", Key: "1"}, {Scope: "app", Key: "2", Value: half}, {Scope: "other", Key: "1", Value: half},
	}}))
	w.accept(w.next(1))
	if got := e.get(s, "a"); got.Head != w.head || len(e.shared(s, "app")) != 1 {
		e.Errorf("head %+v, want %+v", got.Head, w.head)
	}
}
