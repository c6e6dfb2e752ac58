package storetest

import (
	"bytes"
	"context"
	"errors"
	"reflect"

	"github.com/perdure/perdure/store"
)

var readTests = []test{
	{"ranges", readRanges},
	{"pages", readPages},
	{"large and empty bodies", readBodies},
	{"stops", readStops},
	{"inside a read", readNested},
	{"cancelled context", readCancelled},
}

// readRanges: both ends are included and clipped.
func readRanges(e *env) {
	s := e.open()
	e.create(s, "a")
	if got := e.log(s, "a"); len(got) != 0 {
		e.Errorf("an empty log has %d events", len(got))
	}
	w := e.acquire(s, "a")
	e.must(w.append(e.ctx, 10))
	for _, r := range [][4]int64{
		{1, 0, 1, 10}, {0, 0, 1, 10}, {-3, 2, 1, 2}, {3, 3, 3, 3}, {4, 7, 4, 7}, {9, 99, 9, 10}, {10, 0, 10, 10}, {11, 0, 1, 0}, {7, 3, 1, 0},
	} {
		got, err := e.read(s, "a", r[0], r[1])
		e.must(err)
		if want := w.acked[r[2]-1 : r[3]]; len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			e.Errorf("from %d to %d: %d events, want %d to %d", r[0], r[1], len(got), r[2], r[3])
		}
	}
}

// readPages: a log longer than any page comes whole and in order, from any place.
func readPages(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	for range 5 {
		e.must(w.append(e.ctx, 501))
	}
	for _, from := range []int64{1, 2, 1000, 1001, 2505} {
		got, err := e.read(s, "a", from, 0)
		e.must(err)
		if !reflect.DeepEqual(got, w.acked[from-1:]) {
			e.Errorf("from %d: %d events", from, len(got))
		}
	}
}

// readBodies: sizes from nothing to megabytes survive byte for byte; an erased body verifies and stays erased.
func readBodies(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	var want []store.Event
	head := e.zero()
	for _, n := range []int{0, 1, 4095, 4096, 70_000, 3 << 20} {
		event := Seal("a", head, store.Event{Kind: "app", Body: bytes.Repeat([]byte{byte(n), 0, 0xff}, n/3+1)[:n]})
		want = append(want, event)
		head = store.Head{Seq: event.Seq, Hash: event.Hash}
	}
	want[1].Body = nil
	e.must(s.Append(e.ctx, w.lease, store.Batch{Events: want}))
	if got := e.log(s, "a"); !reflect.DeepEqual(got, want) {
		e.Error("bodies came back changed")
	}
}

// readStops: a caller may stop early, and reading goes on working.
func readStops(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	e.must(w.append(e.ctx, 50))
	for range 20 {
		for event, err := range s.Read(e.ctx, "a", 3, 0) {
			e.must(err)
			if event.Seq == 5 {
				break
			}
		}
	}
	e.must(w.append(e.ctx, 1))
	if got := e.log(s, "a"); len(got) != 51 {
		e.Errorf("%d events", len(got))
	}
}

// readNested: the body of a read may use the store, to any depth that a program would have.
func readNested(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	e.must(w.append(e.ctx, 3))
	var visit func(depth int)
	visit = func(depth int) {
		if depth == 0 {
			e.must(w.append(e.ctx, 1))
			return
		}
		for _, err := range s.Read(e.ctx, "a", 1, 1) {
			e.must(err)
			visit(depth - 1)
		}
	}
	visit(12)
	if got := e.log(s, "a"); len(got) != 4 {
		e.Errorf("%d events", len(got))
	}
}

// readCancelled: a cancelled context ends the sequence with its error.
func readCancelled(e *env) {
	s := e.open()
	e.create(s, "a")
	w := e.acquire(s, "a")
	for range 5 {
		e.must(w.append(e.ctx, 500))
	}
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	n := 0
	var last error
	for _, err := range s.Read(ctx, "a", 1, 0) {
		if n++; n == 10 {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) || n > 1500 {
		e.Errorf("after %d events: %v", n, last)
	}
}
