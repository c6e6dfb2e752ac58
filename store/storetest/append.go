package storetest

import (
	"context"
	"errors"
	"reflect"

	"github.com/perdure/perdure/store"
)

func (e *env) zero() store.Head { return store.Head{} }

// position is the writer's head, as a fork point.
func (w *writer) position() store.Position {
	return store.Position{Session: w.lease.Session, Seq: w.head.Seq, Hash: w.head.Hash}
}

var appendTests = []test{
	{"moves the head", appendMovesHead},
	{"conflict", appendConflict},
	{"sparse batch", appendSparse},
	{"all or none", appendAtomic},
	{"fenced", appendFenced},
	{"without events", appendWithoutEvents},
	{"mark", appendMark},
	{"slices are not kept", appendKeepsNothing},
	{"cancelled context", appendCancelled},
}

// appendMovesHead: head, bytes and time follow the batch; every field of an event comes back.
func appendMovesHead(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	head := e.zero()
	var want []store.Event
	for _, event := range []store.Event{
		{Kind: "session.opened", Time: 5, Flags: store.Critical, Actor: store.Actor{Type: store.ActorEngine}, Codec: 1, Body: []byte("x")},
		{Kind: "unknown.kind", Time: -5, Actor: store.Actor{Type: store.ActorTool, ID: "ü\x00\n"}, Codec: 255, Body: []byte{0, 255}},
		{Kind: "app", Time: 1 << 60, Actor: store.Actor{}, Body: []byte{}},
	} {
		event = Seal("a", head, event)
		head = store.Head{Seq: event.Seq, Hash: event.Hash}
		want = append(want, event)
	}
	e.must(s.Append(e.ctx, w.lease, store.Batch{Events: want}))
	if got := e.log(s, "a"); !reflect.DeepEqual(got, want) {
		e.Errorf("got  %+v\nwant %+v", got, want)
	}
	if info := e.get(s, "a"); info.Head != head || info.Updated != 1<<60 || info.Bytes != 3 {
		e.Errorf("row: %+v", info)
	}
}

// appendConflict: only the event after the head can be appended, and a refused batch leaves no trace.
func appendConflict(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	first := w.next(1)
	e.must(w.append(e.ctx, 2))
	before := e.get(s, "a")
	for name, events := range map[string][]store.Event{"again": first, "behind a gap": Events("a", store.Head{Seq: 5}, 1)} {
		heads := store.Heads{Title: "must not be seen"}
		err := s.Append(e.ctx, w.lease, store.Batch{Events: events, Heads: &heads, Owner: "nobody", Mark: 9})
		if !errors.Is(err, store.ErrConflict) {
			e.Errorf("%s: %v", name, err)
		}
	}
	if after := e.get(s, "a"); !reflect.DeepEqual(after, before) {
		e.Errorf("a refused batch changed the row: %+v", after)
	}
	e.must(w.append(e.ctx, 1))
}

// appendSparse: numbers inside a batch must be dense and begin at 1 or later.
func appendSparse(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	gap := w.next(3)
	for name, events := range map[string][]store.Event{
		"gap": {gap[0], gap[2]}, "backwards": {gap[1], gap[0]}, "zero": {{Seq: 0}}, "twice": {gap[0], gap[0]},
	} {
		if err := s.Append(e.ctx, w.lease, store.Batch{Events: events}); err == nil {
			e.Errorf("%s was accepted", name)
		}
	}
	if n := len(e.log(s, "a")); n != 0 {
		e.Errorf("%d events of refused batches are there", n)
	}
}

// appendAtomic: a reader sees a batch whole or not at all.
func appendAtomic(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	ctx, cancel := context.WithCancel(e.ctx)
	done := make(chan error, 1)
	go func() {
		for {
			events, err := e.read(s, "a", 1, 0)
			if err == nil && len(events)%5 != 0 {
				err = errors.New("a part of a batch was seen")
			}
			if err != nil || ctx.Err() != nil {
				done <- err
				return
			}
		}
	}()
	for range 30 {
		e.must(w.append(e.ctx, 5))
	}
	cancel()
	e.must(<-done)
}

// appendFenced: after a newer epoch the old one appends nothing, not even without events.
func appendFenced(e *env) {
	a, b := e.open(), e.open()
	e.create(a, "a")
	old := e.acquire(a, "a")
	e.must(old.append(e.ctx, 1))
	e.must(a.Release(e.ctx, old.lease))
	if err := old.append(e.ctx, 1); !errors.Is(err, store.ErrFenced) {
		e.Errorf("append after release: %v", err)
	}
	now := e.acquire(b, "a")
	e.must(now.append(e.ctx, 1))
	for _, events := range [][]store.Event{old.next(1), now.next(1), nil} {
		if err := a.Append(e.ctx, old.lease, store.Batch{Events: events, Mark: 3}); !errors.Is(err, store.ErrFenced) {
			e.Errorf("append of the old epoch: %v", err)
		}
	}
	forged := now.lease
	forged.Holder = old.lease.Holder
	if err := a.Append(e.ctx, forged, store.Batch{Events: now.next(1)}); !errors.Is(err, store.ErrFenced) {
		e.Errorf("append under somebody else's epoch: %v", err)
	}
	e.must(a.Release(e.ctx, old.lease))
	if info := e.get(a, "a"); info.Holder == nil || info.Holder.ID != now.lease.Holder {
		e.Errorf("a stale release took the lease away: %+v", info.Holder)
	}
	e.must(now.append(e.ctx, 1))
}

// appendWithoutEvents: heads, owner and mark can move alone; the log and its time stay.
func appendWithoutEvents(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	e.must(w.append(e.ctx, 1))
	before := e.get(s, "a")
	heads := store.Heads{Title: "t"}
	e.must(s.Append(e.ctx, w.lease, store.Batch{Heads: &heads, Owner: "o", Mark: 2}))
	after := e.get(s, "a")
	if after.Heads.Title != "t" || after.Owner != "o" || after.Mark != 2 || after.Head != before.Head || after.Updated != before.Updated {
		e.Errorf("row: %+v", after)
	}
	e.must(w.append(e.ctx, 1))
}

// appendMark: the mark never moves back.
func appendMark(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	for _, mark := range []int64{0, 3, 2, 0} {
		events := w.next(1)
		e.must(s.Append(e.ctx, w.lease, store.Batch{Events: events, Mark: mark}))
		w.accept(events)
	}
	if info := e.get(s, "a"); info.Mark != 3 {
		e.Errorf("mark %d", info.Mark)
	}
}

// appendKeepsNothing: neither what was handed in nor what was handed out is shared with the store.
func appendKeepsNothing(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	heads := store.Heads{Labels: map[string]string{"k": "v"}, Extra: []byte("x")}
	events := w.next(1)
	want := string(events[0].Body)
	e.must(s.Append(e.ctx, w.lease, store.Batch{Events: events, Heads: &heads}))
	clear(events[0].Body)
	heads.Labels["k"], heads.Extra[0] = "changed", 'y'
	got := e.log(s, "a")
	if string(got[0].Body) != want {
		e.Error("the store kept the slice it was given")
	}
	clear(got[0].Body)
	info := e.get(s, "a")
	if info.Heads.Labels["k"] != "v" || string(info.Heads.Extra) != "x" {
		e.Errorf("the store kept heads it was given: %+v", info.Heads)
	}
	info.Heads.Labels["k"] = "changed"
	if string(e.log(s, "a")[0].Body) != want || e.get(s, "a").Heads.Labels["k"] != "v" {
		e.Error("the store handed out what it keeps")
	}
}

// appendCancelled: a call that did not begin says so and changes nothing.
func appendCancelled(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	if err := w.append(ctx, 1); !errors.Is(err, context.Canceled) {
		e.Errorf("append: %v", err)
	}
	if n := len(e.log(s, "a")); n != 0 {
		e.Errorf("%d events", n)
	}
	e.must(w.append(e.ctx, 1))
}
