package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/perdure/perdure/store"
)

var directoryTests = []test{
	{"create and get", createAndGet},
	{"unknown session", unknownSession},
	{"list order and paging", listPages},
	{"list filters", listFilters},
	{"list by parts of ids", listParts},
	{"list moves with appends", listMoves},
	{"delete", deleteSession},
	{"closed store", closedStore},
}

// createAndGet: what was given at creation comes back, and nothing else is there yet.
func createAndGet(e *env) {
	s := e.open()
	nano := int64(7)
	heads := store.Heads{
		Title: "a title", Labels: map[string]string{"k": "v", "": "empty"}, Lifecycle: "open", Activity: "idle", Cwd: "/tmp",
		Model: "m", Turns: 3, CostNano: &nano, Extra: []byte(`{"x": 1}`),
	}
	e.must(s.Create(e.ctx, store.NewSession{ID: "one", Owner: "me", Created: 42, Heads: heads}))
	info := e.get(s, "one")
	want := store.Info{ID: "one", Owner: "me", Created: 42, Updated: 42, Heads: heads}
	if !reflect.DeepEqual(info, want) {
		e.Errorf("got  %+v\nwant %+v", info, want)
	}
	if err := s.Create(e.ctx, store.NewSession{ID: "one"}); !errors.Is(err, store.ErrExists) {
		e.Errorf("second create: %v", err)
	}
	e.must(s.Create(e.ctx, store.NewSession{ID: "two", Labels: map[string]string{"from": "session"}}))
	if got := e.get(s, "two").Heads.Labels["from"]; got != "session" {
		e.Errorf("labels of the session are not in its heads: %q", got)
	}
	if err := s.Create(e.ctx, store.NewSession{}); err == nil {
		e.Error("a session without an id was created")
	}
}

// unknownSession: every verb says ErrNotFound.
func unknownSession(e *env) {
	s := e.open()
	_, get := s.Get(e.ctx, "no")
	_, acquire := s.Acquire(e.ctx, "no")
	_, send := s.Send(e.ctx, "no", store.Item{Key: "k"})
	_, pending := s.Pending(e.ctx, "no", 0, 0)
	_, load := s.LoadSnapshot(e.ctx, "no", 1, 0)
	_, reader := s.Reader(e.ctx, "no", "t", "r")
	_, read := e.read(s, "no", 1, 0)
	for name, err := range map[string]error{
		"get": get, "acquire": acquire, "send": send, "pending": pending, "load": load, "reader": reader, "read": read,
		"delete": s.Delete(e.ctx, "no"),
		"append": s.Append(e.ctx, store.Lease{Session: "no", Epoch: 1}, store.Batch{Events: Events("no", e.zero(), 1)}),
		"save":   s.SaveSnapshot(e.ctx, "no", store.Snapshot{Seq: 1}),
		"set":    s.SetReader(e.ctx, "no", "t", "r", 1),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			e.Errorf("%s: %v", name, err)
		}
	}
}

// listPages: newest first, every session exactly once, however large the page, also when times are equal.
func listPages(e *env) {
	s := e.open()
	var want []string
	for i := range 23 {
		id := fmt.Sprintf("s%02d", i)
		e.must(s.Create(e.ctx, store.NewSession{ID: id, Created: int64(1000 + i/3)}))
		want = append(want, id)
	}
	slices.Reverse(want)
	for _, limit := range []int{1, 2, 7, 22, 23, 24, 0} {
		if got := e.listAll(s, store.Query{Limit: limit}); !slices.Equal(got, want) {
			e.Errorf("limit %d: %v", limit, got)
		}
	}
	for _, q := range []store.Query{{Limit: -1}, {Limit: 1001}, {After: "nonsense"}} {
		if _, err := s.List(e.ctx, q); err == nil {
			e.Errorf("query %+v was accepted", q)
		}
	}
}

// listAll follows the pages and returns the ids.
func (e *env) listAll(s store.Store, q store.Query) []string {
	e.Helper()
	var ids []string
	for range 100 {
		page, err := s.List(e.ctx, q)
		e.must(err)
		for _, info := range page.Sessions {
			ids = append(ids, info.ID)
		}
		if q.After = page.Next; q.After == "" {
			return ids
		}
	}
	e.Fatal("a listing does not end")
	return nil
}

// listFilters: each filter alone and together selects exactly what matches.
func listFilters(e *env) {
	s := e.open()
	e.create(s, "parent")
	parent := e.acquire(s, "parent")
	e.must(parent.append(e.ctx, 1))
	fork := parent.position()
	for _, n := range []store.NewSession{
		{ID: "abc", Heads: store.Heads{Title: "T", Cwd: "/a", Lifecycle: "open", Activity: "running", Labels: map[string]string{"x": "1", "y": "2"}}},
		{ID: "abd", Heads: store.Heads{Title: "T", Cwd: "/b", Lifecycle: "closed", Activity: "idle", Labels: map[string]string{"x": "1"}}},
		{ID: "b_.", Heads: store.Heads{Title: "U", Cwd: "/a", Lifecycle: "paused", Activity: "idle", Labels: map[string]string{"x": "2"}}, Parent: &fork},
	} {
		e.must(s.Create(e.ctx, n))
	}
	for _, tt := range []struct {
		q    store.Query
		want []string
	}{
		{store.Query{Title: "T"}, []string{"abd", "abc"}},
		{store.Query{Cwd: "/a"}, []string{"b_.", "abc"}},
		{store.Query{Lifecycle: "open"}, []string{"parent", "abc"}},
		{store.Query{Lifecycle: "paused"}, []string{"b_."}},
		{store.Query{Lifecycle: "closed"}, []string{"abd"}},
		{store.Query{Activity: "running"}, []string{"abc"}},
		{store.Query{Activity: "idle"}, []string{"b_.", "abd"}},
		{store.Query{Labels: map[string]string{"x": "1"}}, []string{"abd", "abc"}},
		{store.Query{Labels: map[string]string{"x": "1", "y": "2"}}, []string{"abc"}},
		{store.Query{Labels: map[string]string{"none": ""}}, nil},
		{store.Query{IDPrefix: "ab"}, []string{"abd", "abc"}},
		{store.Query{IDPrefix: "b_"}, []string{"b_."}},
		{store.Query{IDPrefix: "%"}, nil},
		{store.Query{IDSuffix: "bc"}, []string{"abc"}},
		{store.Query{IDSuffix: "_."}, []string{"b_."}},
		{store.Query{IDSuffix: "parent parent"}, nil},
		{store.Query{Lifecycle: "closed", OrHeld: true}, []string{"parent", "abd"}},
		{store.Query{Activity: "running", OrHeld: true}, []string{"parent", "abc"}},
		{store.Query{Activity: "running", Lifecycle: "closed", OrHeld: true}, []string{"parent"}},
		{store.Query{Activity: "running", Cwd: "/a", OrHeld: true}, []string{"abc"}},
		{store.Query{Parent: "parent"}, []string{"b_."}},
		{store.Query{Parent: "nobody"}, nil},
		{store.Query{Title: "T", Cwd: "/a", IDPrefix: "a", Lifecycle: "open", Activity: "running", Labels: map[string]string{"y": "2"}}, []string{"abc"}},
	} {
		if got := e.listAll(s, tt.q); !slices.Equal(got, tt.want) {
			e.Errorf("%+v: got %v, want %v", tt.q, got, tt.want)
		}
		tt.q.Limit = 1
		if got := e.listAll(s, tt.q); !slices.Equal(got, tt.want) {
			e.Errorf("%+v one at a time: got %v, want %v", tt.q, got, tt.want)
		}
	}
}

// listParts: the beginning and the end of an id select what begins and ends so, next to which other ids are, and nothing
// else, whatever bytes they have.
func listParts(e *env) {
	s := e.open()
	ids := []string{"0", "a", "a-", "a.", "a0", "aZ", "a_", "ab", "abc", "ac", "az", "azz", "b", "ba", "z", "zz"}
	for _, id := range ids {
		e.must(s.Create(e.ctx, store.NewSession{ID: id}))
	}
	for _, part := range append([]string{"a\x7f", "\x7f", "é", "\xff", "a\xff", "", "%", "abcd"}, ids...) {
		var begin, end []string
		for _, id := range ids {
			if strings.HasPrefix(id, part) {
				begin = append(begin, id)
			}
			if strings.HasSuffix(id, part) {
				end = append(end, id)
			}
		}
		if got := slices.Sorted(slices.Values(e.listAll(s, store.Query{IDPrefix: part}))); !slices.Equal(got, begin) {
			e.Errorf("beginning %q: got %q, want %q", part, got, begin)
		}
		if got := slices.Sorted(slices.Values(e.listAll(s, store.Query{IDSuffix: part}))); !slices.Equal(got, end) {
			e.Errorf("end %q: got %q, want %q", part, got, end)
		}
	}
}

// listMoves: an append brings a session to the front, and heads set with it are what filters see.
func listMoves(e *env) {
	s := e.open()
	for _, id := range []string{"a", "b", "c"} {
		e.create(s, id)
	}
	w := e.acquire(s, "a")
	heads := store.Heads{Title: "new", Labels: map[string]string{"k": "1"}}
	events := w.next(1)
	e.must(s.Append(e.ctx, w.lease, store.Batch{Events: events, Heads: &heads, Owner: "other"}))
	w.accept(events)
	if got := e.listAll(s, store.Query{}); !slices.Equal(got, []string{"a", "c", "b"}) {
		e.Errorf("order %v", got)
	}
	if got := e.listAll(s, store.Query{Title: "new", Labels: map[string]string{"k": "1"}}); !slices.Equal(got, []string{"a"}) {
		e.Errorf("by new heads: %v", got)
	}
	info := e.get(s, "a")
	if info.Owner != "other" || info.Updated != events[0].Time || !reflect.DeepEqual(info.Heads, heads) {
		e.Errorf("row after the append: %+v", info)
	}
	heads.Labels = map[string]string{"k": "2"}
	e.must(s.Append(e.ctx, w.lease, store.Batch{Events: w.next(1), Heads: &heads}))
	if got := e.listAll(s, store.Query{Labels: map[string]string{"k": "1"}}); got != nil {
		e.Errorf("an old label is still found: %v", got)
	}
	if info := e.get(s, "a"); info.Owner != "other" || info.Heads.Labels["k"] != "2" {
		e.Errorf("row after the second append: %+v", info)
	}
	for _, owner := range []string{"owner", "other"} { // and back
		e.must(s.Append(e.ctx, w.lease, store.Batch{Owner: owner}))
		if info := e.get(s, "a"); info.Owner != owner {
			e.Errorf("it belongs to %q, want %q", info.Owner, owner)
		}
	}
}

// deleteSession: everything goes, and a new session of that name begins empty.
func deleteSession(e *env) {
	s, other := e.open(), e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	e.must(w.append(e.ctx, 3))
	_, err := s.Send(e.ctx, "a", store.Item{Key: "k"})
	e.must(err)
	e.must(s.SaveSnapshot(e.ctx, "a", store.Snapshot{Seq: 3, FoldVersion: 1}))
	e.must(s.SetReader(e.ctx, "a", "t", "r", 9))
	for _, by := range []store.Store{s, other} {
		if err := by.Delete(e.ctx, "a"); !errors.Is(err, store.ErrHeld) {
			e.Errorf("delete of a held session: %v", err)
		}
	}
	e.must(s.Release(e.ctx, w.lease))
	e.must(other.Delete(e.ctx, "a"))
	if _, err := s.Get(e.ctx, "a"); !errors.Is(err, store.ErrNotFound) {
		e.Errorf("get after delete: %v", err)
	}
	if err := w.append(e.ctx, 1); !errors.Is(err, store.ErrNotFound) {
		e.Errorf("append after delete: %v", err)
	}
	e.create(s, "a")
	items, err := s.Pending(e.ctx, "a", 0, 0)
	e.must(err)
	snapshot, err := s.LoadSnapshot(e.ctx, "a", 1, 0)
	e.must(err)
	position, err := s.Reader(e.ctx, "a", "t", "r")
	e.must(err)
	if len(e.log(s, "a")) != 0 || len(items) != 0 || snapshot != nil || position != 0 {
		e.Error("the new session has something of the old one")
	}
	e.must(e.acquire(s, "a").append(e.ctx, 1))
}

// closedStore: every verb says ErrClosed, and a second Close does nothing.
func closedStore(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	e.must(s.Close())
	e.must(s.Close())
	_, get := s.Get(e.ctx, "a")
	_, list := s.List(e.ctx, store.Query{})
	_, send := s.Send(e.ctx, "a", store.Item{Key: "k"})
	_, read := e.read(s, "a", 1, 0)
	for name, err := range map[string]error{
		"get": get, "list": list, "send": send, "read": read, "append": w.append(e.ctx, 1),
		"create": s.Create(e.ctx, store.NewSession{ID: "b"}),
	} {
		if !errors.Is(err, store.ErrClosed) {
			e.Errorf("%s: %v", name, err)
		}
	}
}
