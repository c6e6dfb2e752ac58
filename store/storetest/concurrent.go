package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/perdure/perdure/store"
)

var concurrentTests = []test{
	{"many sessions", concurrentSessions},
	{"one conflict fails nobody else", concurrentConflicts},
	{"many senders", concurrentSenders},
	{"competing for one session", competing},
}

// concurrentSessions: writers of many sessions on two stores do not disturb each other.
func concurrentSessions(e *env) {
	stores := []store.Store{e.open(), e.open()}
	const sessions, rounds = 24, 15
	writers := make([]*writer, sessions)
	for i := range writers {
		id := fmt.Sprint("s", i)
		e.create(stores[0], id)
		writers[i] = e.acquire(stores[i%2], id)
	}
	errs := each(writers, func(_ int, w *writer) error {
		for n := range rounds {
			if err := w.append(e.ctx, 1+n%3); err != nil {
				return err
			}
		}
		return nil
	})
	e.must(errs)
	for i, w := range writers {
		if got := e.log(stores[(i+1)%2], w.lease.Session); !reflect.DeepEqual(got, w.acked) {
			e.Errorf("session %d: %d events, %d acknowledged", i, len(got), len(w.acked))
		}
	}
}

// each runs f for all at once and joins the errors.
func each[T any](all []T, f func(int, T) error) error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, v := range all {
		wg.Go(func() { errs[i] = f(i, v) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// concurrentConflicts: of appends that are committed together, those that are refused fail alone.
func concurrentConflicts(e *env) {
	s := e.open()
	writers := make([]*writer, 16)
	for i := range writers {
		id := fmt.Sprint("s", i)
		e.create(s, id)
		writers[i] = e.acquire(s, id)
	}
	errs := each(writers, func(i int, w *writer) error {
		for range 20 {
			if i%4 != 0 {
				if err := w.append(e.ctx, 1); err != nil {
					return err
				}
				continue
			}
			stale := Events(w.lease.Session, store.Head{Seq: 7}, 1)
			if err := s.Append(e.ctx, w.lease, store.Batch{Events: stale}); !errors.Is(err, store.ErrConflict) {
				return fmt.Errorf("a conflict was answered with: %w", err)
			}
		}
		return nil
	})
	e.must(errs)
	for i, w := range writers {
		if got := e.log(s, w.lease.Session); len(got) != len(w.acked) {
			e.Errorf("session %d: %d events, %d acknowledged", i, len(got), len(w.acked))
		}
	}
}

// concurrentSenders: each item is there once, and the numbers are dense, though every sender repeats itself.
func concurrentSenders(e *env) {
	stores := []store.Store{e.open(), e.open()}
	e.create(stores[0], "a")
	const keys = 40
	senders := make([]int, 6)
	errs := each(senders, func(i int, _ int) error {
		for _, k := range rand.Perm(keys) {
			if _, err := stores[i%2].Send(e.ctx, "a", newItem(fmt.Sprint("k", k), fmt.Sprint(k))); err != nil {
				return err
			}
		}
		return nil
	})
	e.must(errs)
	items, err := stores[1].Pending(e.ctx, "a", 0, 0)
	e.must(err)
	seen := map[string]bool{}
	for i, it := range items {
		if it.N != int64(i+1) || seen[it.Key] {
			e.Errorf("item %d: %+v", i, it)
		}
		seen[it.Key] = true
	}
	if len(seen) != keys {
		e.Errorf("%d keys, want %d", len(seen), keys)
	}
}

// What the competitors do, and the outcome as the model names it.
type (
	input struct {
		op     string // acquire, append, release, get
		holder string
		epoch  int64
		seq    int64
	}
	output struct {
		result string // ok, held, fenced, conflict
		epoch  int64
		head   int64
	}
	register struct {
		holder string
		epoch  int64
		head   int64
	}
)

// step is the sequential meaning of an operation.
func step(state, in, out any) (bool, any) {
	r, i, o := state.(register), in.(input), out.(output)
	mine := r.holder == i.holder && r.epoch == i.epoch
	want := output{result: "ok"}
	switch i.op {
	case "get":
		want.epoch, want.head = r.epoch, r.head
	case "acquire":
		if r.holder != "" {
			want.result = "held"
			break
		}
		r.holder, r.epoch = i.holder, r.epoch+1
		want.epoch, want.head = r.epoch, r.head
	case "release":
		if mine {
			r.holder = ""
		}
	case "append":
		switch {
		case !mine:
			want.result = "fenced"
		case i.seq != r.head+1:
			want.result = "conflict"
		default:
			r.head++
		}
	}
	return o == want, r
}

// competing: what several stores see when they fight for one session is explained by some order of their calls.
func competing(e *env) {
	first := e.open()
	e.create(first, "a")
	stores := []store.Store{first, first, e.open(), e.open()}
	begun := time.Now()
	var mu sync.Mutex
	var history []porcupine.Operation
	errs := each(stores, func(client int, s store.Store) error {
		c := &competitor{env: e, s: s, rng: rand.New(rand.NewPCG(uint64(client), 1))}
		for range 40 {
			call := time.Since(begun).Nanoseconds()
			in, out, err := c.turn()
			if err != nil {
				return err
			}
			mu.Lock()
			history = append(history, porcupine.Operation{
				ClientId: client, Input: in, Output: out, Call: call, Return: time.Since(begun).Nanoseconds(),
			})
			mu.Unlock()
		}
		return nil
	})
	e.must(errs)
	model := porcupine.Model{Init: func() any { return register{} }, Step: step}
	if result := porcupine.CheckOperationsTimeout(model, history, 20*time.Second); result != porcupine.Ok {
		e.Errorf("history of %d calls: %s", len(history), result)
	}
}

// competitor acts with a lease that may be its own, stale, or none.
type competitor struct {
	*env
	s     store.Store
	rng   *rand.Rand
	lease store.Lease
	head  store.Head
}

func (c *competitor) turn() (in input, out output, err error) {
	in = input{holder: c.lease.Holder, epoch: c.lease.Epoch}
	switch n := c.rng.IntN(10); {
	case n < 2:
		in.op = "get"
		var info store.Info
		info, err = c.s.Get(c.ctx, "a")
		out = output{epoch: info.Epoch, head: info.Head.Seq}
	case n < 4 || c.lease.Holder == "":
		in.op = "acquire"
		var l store.Lease
		if l, err = c.s.Acquire(c.ctx, "a"); err == nil {
			c.lease, c.head = l, l.Info.Head
			in.holder, in.epoch = l.Holder, 0
			out = output{epoch: l.Epoch, head: l.Info.Head.Seq}
		}
	case n < 5:
		in.op = "release"
		err = c.s.Release(c.ctx, c.lease)
	default:
		in.op = "append"
		head := c.head
		head.Seq += int64(c.rng.IntN(5) / 4) // Sometimes behind a gap.
		events := Events("a", head, 1)
		in.seq = events[0].Seq
		if err = c.s.Append(c.ctx, c.lease, store.Batch{Events: events}); err == nil {
			c.head = store.Head{Seq: events[0].Seq, Hash: events[0].Hash}
		}
	}
	out.result, err = named(err)
	return in, out, err
}

// named gives the word for a refusal; other errors stay errors.
func named(err error) (string, error) {
	for _, r := range []struct {
		is   error
		name string
	}{
		{store.ErrHeld, "held"},
		{store.ErrFenced, "fenced"},
		{store.ErrConflict, "conflict"},
		{store.ErrNotFound, "not found"},
		{store.ErrExists, "exists"},
		{store.ErrKeyReused, "key reused"},
	} {
		if errors.Is(err, r.is) {
			return r.name, nil
		}
	}
	return "ok", err
}
