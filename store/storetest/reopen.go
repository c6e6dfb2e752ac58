package storetest

import (
	"reflect"

	"github.com/perdure/perdure/store"
)

var reopenTests = []test{
	{"after every operation", func(e *env) { reopenEvery(e, (*reopener).again) }},
	{"after a kill at every operation", func(e *env) { reopenEvery(e, (*reopener).killed) }},
}

// reopener is one session's story told over many openings.
type reopener struct {
	*env
	s store.Store
	w *writer
}

// again closes and opens; killed kills and opens.
func (r *reopener) again() {
	r.must(r.s.Close())
	r.s = r.home.Open(r.TB)
}

func (r *reopener) killed() {
	r.home.Kill(r.TB, r.s)
	r.s = r.home.Open(r.TB)
}

// hold takes the session again with the writer's memory, as a resumed program would.
func (r *reopener) hold() {
	l, err := r.s.Acquire(r.ctx, "a")
	r.must(err)
	if l.Info.Head != r.w.head {
		r.Fatalf("head %+v, acknowledged %+v", l.Info.Head, r.w.head)
	}
	r.w.store, r.w.lease = r.s, l
}

// reopenEvery: whatever was acknowledged is there after each reopening, and nothing else.
func reopenEvery(e *env, reopen func(*reopener)) {
	r := &reopener{env: e, s: e.home.Open(e.TB), w: &writer{}}
	defer func() { _ = r.s.Close() }()
	item := newItem("k", "x")
	snapshot := store.Snapshot{Seq: 2, Hash: store.Sum([]byte("h")), FoldVersion: 3, State: []byte("state")}
	steps := []func(){
		func() { e.create(r.s, "a") },
		r.hold,
		func() { r.hold(); e.must(r.w.append(e.ctx, 2)) },
		func() { _, err := r.s.Send(e.ctx, "a", item); e.must(err) },
		func() { e.must(r.s.SaveSnapshot(e.ctx, "a", snapshot)) },
		func() { e.must(r.s.SetReader(e.ctx, "a", "t", "r", 7)) },
		func() {
			r.hold()
			events := r.w.next(1)
			heads := store.Heads{Title: "t", Lifecycle: "closed", Labels: map[string]string{"k": "v"}}
			e.must(r.s.Append(e.ctx, r.w.lease, store.Batch{Events: events, Mark: 1, Heads: &heads, Owner: "o"}))
			r.w.accept(events)
		},
		func() {
			at := r.w.position()
			first := Events("c", store.Head{Hash: at.Hash}, 2)
			e.must(r.s.Create(e.ctx, store.NewSession{ID: "c", Parent: &at, Events: first}))
			reopen(r)
			if got := e.log(r.s, "c"); !reflect.DeepEqual(got, first) {
				e.Errorf("log of the child: %+v", got)
			}
		},
		func() { e.must(r.s.Delete(e.ctx, "c")) },
		func() { r.hold(); e.must(r.s.Release(e.ctx, r.w.lease)) },
	}
	for i, step := range steps {
		step()
		want, events, items := r.look()
		reopen(r)
		got, eventsNow, itemsNow := r.look()
		want.Holder, got.Holder = nil, nil
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(eventsNow, events) || !reflect.DeepEqual(itemsNow, items) {
			e.Fatalf("after step %d:\ngot  %+v %d %d\nwant %+v %d %d", i, got, len(eventsNow), len(itemsNow), want, len(events), len(items))
		}
		if !reflect.DeepEqual(events, r.w.acked) {
			e.Fatalf("after step %d: %d events, %d acknowledged", i, len(events), len(r.w.acked))
		}
	}
	n, err := r.s.LoadSnapshot(e.ctx, "a", 3, 0)
	e.must(err)
	position, err := r.s.Reader(e.ctx, "a", "t", "r")
	e.must(err)
	if n == nil || !reflect.DeepEqual(*n, snapshot) || position != 7 {
		e.Errorf("snapshot %+v, position %d", n, position)
	}
	if got, err := r.s.Send(e.ctx, "a", item); err != nil || !got.Known {
		e.Errorf("a key is forgotten: %+v, %v", got, err)
	}
}

func (r *reopener) look() (store.Info, []store.Event, []store.Item) {
	r.Helper()
	items, err := r.s.Pending(r.ctx, "a", 0, 0)
	r.must(err)
	return r.get(r.s, "a"), r.log(r.s, "a"), items
}
