// Package storetest is the contract of package store as code. An implementation runs it from a test of its own:
//
//	storetest.Run(t, func(t *testing.T) storetest.Home { … })
//
// What the implementation hands in is a [Home]: a fresh, empty place on which stores can be opened, as processes open
// a directory or a database. The suite opens several at once, closes them, and kills them. Everything a test made is
// in its own home, so that tests can run in any order.
//
// Its random histories are made by rapid: a failure says how to see it again, and leaves a file below testdata/rapid of
// the package that is tested, which is tried first from then on and may be removed.
package storetest

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/perdure/perdure/store"
)

// Home is a place that outlives the stores opened on it.
type Home struct {
	// Open opens one more store, which is a holder of its own. The suite closes it.
	Open func(t testing.TB) store.Store
	// Kill ends a store as SIGKILL ends its process: nothing is released, the holder is dead, and every later call
	// fails, except that Close does nothing.
	Kill func(t testing.TB, s store.Store)
	// Now is the clock by which the stores note when something was done, in ms UTC; nil is the system's.
	Now func() int64
}

// moment waits until the clock of the stores goes on, and returns its time: what was done before is earlier than that, and
// what is done from here on is not.
func (h Home) moment() int64 {
	now := h.Now
	if now == nil {
		now = func() int64 { return time.Now().UnixMilli() }
	}
	was := now()
	for now() <= was { // a millisecond at most
		runtime.Gosched()
	}
	return now()
}

// Run runs the whole suite.
func Run(t *testing.T, newHome func(t *testing.T) Home) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"Directory", directoryTests},
		{"Create", createTests},
		{"Append", appendTests},
		{"AppendFree", appendFreeTests},
		{"Shared", sharedTests},
		{"Read", readTests},
		{"Lease", leaseTests},
		{"Fork", forkTests},
		{"Import", importTests},
		{"Inbox", inboxTests},
		{"Snapshot", snapshotTests},
		{"Reopen", reopenTests},
		{"Scrub", scrubTests},
		{"Notify", notifyTests},
		{"Concurrent", concurrentTests},
		{"Model", modelTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, tt := range group.tests {
				t.Run(tt.name, func(t *testing.T) {
					tt.run(&env{TB: t, t: t, home: newHome(t), ctx: t.Context()})
				})
			}
		})
	}
}

type test struct {
	name string
	run  func(e *env)
}

// env is what a test works with.
type env struct {
	testing.TB
	t    *testing.T
	home Home
	ctx  context.Context
}

// open opens a store that is closed when the test ends.
func (e *env) open() store.Store {
	e.Helper()
	s := e.home.Open(e.TB)
	e.Cleanup(func() { _ = s.Close() }) // A killed or closed store may complain.
	return s
}

func (e *env) create(s store.Store, id string) {
	e.Helper()
	e.must(s.Create(e.ctx, store.NewSession{ID: id, Owner: "owner", Created: 1000, Heads: store.Heads{Lifecycle: "open"}}))
}

func (e *env) acquire(s store.Store, id string) *writer {
	e.Helper()
	l, err := s.Acquire(e.ctx, id)
	e.must(err)
	return newWriter(s, l)
}

func (e *env) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func (e *env) get(s store.Store, id string) store.Info {
	e.Helper()
	info, err := s.Get(e.ctx, id)
	e.must(err)
	return info
}

// read collects a range; the error is the sequence's.
func (e *env) read(s store.Store, id string, from, to int64) ([]store.Event, error) {
	var events []store.Event
	for event, err := range s.Read(e.ctx, id, from, to) {
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
	return events, nil
}

// log is read of the whole log, which must succeed.
func (e *env) log(s store.Store, id string) []store.Event {
	e.Helper()
	events, err := e.read(s, id, 1, 0)
	e.must(err)
	return events
}

// writer appends to one session and keeps what it appended.
type writer struct {
	store store.Store
	lease store.Lease
	head  store.Head
	acked []store.Event
}

func newWriter(s store.Store, l store.Lease) *writer {
	return &writer{store: s, lease: l, head: l.Info.Head}
}

// next makes the n events that continue the log, without appending them.
func (w *writer) next(n int) []store.Event {
	return Events(w.lease.Session, w.head, n)
}

// append appends one more event and moves on if that was acknowledged.
func (w *writer) append(ctx context.Context, n int) error {
	events := w.next(n)
	if err := w.store.Append(ctx, w.lease, store.Batch{Events: events}); err != nil {
		return err
	}
	w.accept(events)
	return nil
}

func (w *writer) accept(events []store.Event) {
	last := events[len(events)-1]
	w.head = store.Head{Seq: last.Seq, Hash: last.Hash}
	w.acked = append(w.acked, events...)
}

// Events makes n events that continue a log at head. Their bodies say which they are.
func Events(id string, head store.Head, n int) []store.Event {
	events := make([]store.Event, n)
	for i := range events {
		seq := head.Seq + 1
		body := fmt.Appendf(nil, "event %d of %s after %x", seq, id, head.Hash[:4])
		events[i] = Seal(id, head, store.Event{
			Kind: "app", Time: 1000 + seq, Codec: 1, Body: body,
			Actor: store.Actor{Type: store.ActorUser, ID: "test"},
		})
		head = store.Head{Seq: seq, Hash: events[i].Hash}
	}
	return events
}

// Seal makes e the event after head.
func Seal(id string, head store.Head, e store.Event) store.Event {
	e.Seq, e.Digest = head.Seq+1, store.Sum(e.Body)
	e.Hash = store.Hash(head.Hash, id, e)
	return e
}
