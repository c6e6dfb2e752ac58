package storetest

import (
	"time"

	"github.com/perdure/perdure/store"
)

// notifyTests are for stores that are a [store.Notifier]; others pass them.
var notifyTests = []test{
	{"tells of every change of the session", testNotifies},
	{"tells many and ends", testNotifyEnds},
}

// patience is how long a change may take to be told before a test takes it for lost, on a loaded machine.
const patience = 10 * time.Second

func (e *env) told(changed <-chan struct{}, what string) {
	e.Helper()
	select {
	case <-changed:
	case <-time.After(patience):
		e.Fatalf("%s was not told", what)
	}
}

// testNotifies: what this store or another one does to the session is told; what it does to others is not, for long.
func testNotifies(e *env) {
	s, other := e.open(), e.open()
	n, ok := s.(store.Notifier)
	if !ok {
		return
	}
	e.create(s, "watched")
	e.create(s, "beside")
	changed, stop, ok := n.Changes("watched")
	if !ok {
		e.Fatal("changes cannot be told")
	}
	defer stop()
	e.told(changed, "the beginning")
	own := e.acquire(s, "watched")
	for range 3 {
		e.must(own.append(e.ctx, 1))
		e.told(changed, "an append of this store")
		_, err := other.Send(e.ctx, "watched", newItem(string(rune('a'+own.head.Seq)), "x"))
		e.must(err)
		e.told(changed, "an item of another store")
	}
	e.must(s.Release(e.ctx, own.lease))
	theirs := e.acquire(other, "watched")
	e.must(theirs.append(e.ctx, 1))
	e.told(changed, "an append of another store")
	for idle := false; !idle; {
		select {
		case <-changed:
		case <-time.After(100 * time.Millisecond):
			idle = true
		}
	}
	beside := e.acquire(other, "beside")
	e.must(beside.append(e.ctx, 5))
	select {
	case <-changed:
		e.Error("a change of another session was told")
	case <-time.After(100 * time.Millisecond):
	}
}

// testNotifyEnds: one who stops hears nothing more, the others do; closing lets all go on.
func testNotifyEnds(e *env) {
	s := e.open()
	n, ok := s.(store.Notifier)
	if !ok {
		return
	}
	e.create(s, "a")
	var chans []<-chan struct{}
	var stops []func()
	for range 3 {
		changed, stop, ok := n.Changes("a")
		if !ok {
			e.Fatal("changes cannot be told")
		}
		e.told(changed, "the beginning")
		chans, stops = append(chans, changed), append(stops, stop)
	}
	stops[0]()
	stops[0]()
	w := e.acquire(s, "a")
	e.must(w.append(e.ctx, 1))
	e.told(chans[1], "a change")
	e.told(chans[2], "a change")
	select {
	case <-chans[0]:
		e.Error("a change was told to one who had stopped")
	default:
	}
	stops[1]()
	e.must(s.Close())
	e.told(chans[2], "the end")
	if _, _, ok := n.Changes("a"); ok {
		e.Error("a closed store promises to tell")
	}
}
