package storetest

import (
	"errors"
	"iter"
	"reflect"
	"slices"

	"github.com/perdure/perdure/store"
)

var importTests = []test{
	{"a log as it was", importWhole},
	{"a fork with what it inherits", importFork},
	{"all or none", importAllOrNone},
	{"listed like others", importListed},
	{"beside other writers", importBeside},
	{"a log that goes on", importFurther},
	{"a log that goes on, or nothing", importFurtherOrNot},
}

// importer is the store's ability, if it has it.
func (e *env) importer(s store.Store) store.Importer {
	e.Helper()
	i, ok := s.(store.Importer)
	if !ok {
		e.t.Skip("this store imports nothing")
	}
	return i
}

// past is a log to import.
func past(events []store.Event) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func bodies(events []store.Event) (n int64) {
	for _, e := range events {
		n += int64(len(e.Body))
	}
	return n
}

// importWhole: what is imported is read as it was, an erased body included; the row says so, also to a store that is opened
// later; nobody holds it, and the next holder's epoch is greater than any it had.
func importWhole(e *env) {
	s := e.open()
	events := Events("a", store.Head{}, 2500)
	events[7].Body = nil
	here := Events("a", store.Head{Seq: 2500, Hash: events[2499].Hash}, 1)
	heads := store.Heads{Title: "t", Lifecycle: "open", Labels: map[string]string{"k": "v"}}
	e.must(e.importer(s).Import(e.ctx, store.Imported{
		NewSession: store.NewSession{ID: "a", Owner: "me", Created: 7, Heads: heads, Events: here},
		Past:       past(events), Bytes: bodies(events), Epoch: 5,
	}))
	all := append(events, here...)
	want := store.Info{
		ID: "a", Owner: "me", Created: 7, Updated: here[0].Time, Heads: heads, Head: store.Head{Seq: 2501, Hash: here[0].Hash},
		Epoch: 5, Bytes: bodies(all),
	}
	for _, s := range []store.Store{s, e.open()} {
		if got := e.get(s, "a"); !reflect.DeepEqual(got, want) {
			e.Errorf("got  %+v\nwant %+v", got, want)
		}
		if got := e.log(s, "a"); !reflect.DeepEqual(got, all) {
			e.Errorf("the log is another: %d events", len(got))
		}
	}
	page, err := s.List(e.ctx, store.Query{Labels: map[string]string{"k": "v"}})
	if err != nil || len(page.Sessions) != 1 {
		e.Errorf("listing: %+v, %v", page, err)
	}
	w := e.acquire(s, "a")
	if w.lease.Epoch != 6 {
		e.Errorf("the next lease has epoch %d", w.lease.Epoch)
	}
	e.must(w.append(e.ctx, 1))
}

// importFork: a fork comes with the log that it was forked from, in one step; what is forked from is kept.
func importFork(e *env) {
	s := e.open()
	parent := Events("p", store.Head{}, 3)
	at := &store.Position{Session: "p", Seq: 3, Hash: parent[2].Hash}
	child := Events("c", store.Head{Hash: at.Hash}, 2)
	e.must(e.importer(s).Import(
		e.ctx,
		store.Imported{NewSession: store.NewSession{ID: "p"}, Past: past(parent), Bytes: bodies(parent)},
		store.Imported{NewSession: store.NewSession{ID: "c", Parent: at}, Past: past(child), Bytes: bodies(child)},
	))
	if got := e.log(s, "c"); !reflect.DeepEqual(got, child) {
		e.Errorf("log: %+v", got)
	}
	if got := e.get(s, "c").Parent; !reflect.DeepEqual(got, at) {
		e.Errorf("parent: %+v", got)
	}
	var children *store.ChildrenError
	if err := s.Delete(e.ctx, "p"); !errors.As(err, &children) {
		e.Errorf("deleting the parent: %v", err)
	}
}

// importAllOrNone: whatever is wrong with one session, none is there afterwards, and a sound import is taken then.
func importAllOrNone(e *env) {
	s := e.open()
	e.create(s, "there")
	good, events := Events("good", store.Head{}, 2), Events("bad", store.Head{}, 3)
	changed := append([]store.Event{}, events...)
	changed[1].Body = []byte("something else")
	broken := errors.New("cannot be read")
	for name, c := range map[string]struct {
		bad  store.Imported
		want error
	}{
		"is there":       {store.Imported{NewSession: store.NewSession{ID: "there"}}, store.ErrExists},
		"twice":          {store.Imported{NewSession: store.NewSession{ID: "good"}}, store.ErrExists},
		"no name":        {store.Imported{NewSession: store.NewSession{ID: "../bad"}}, store.ErrBadID},
		"no parent":      {store.Imported{NewSession: store.NewSession{ID: "bad", Parent: &store.Position{Session: "none", Seq: 1}}}, store.ErrNotFound},
		"another parent": {store.Imported{NewSession: store.NewSession{ID: "bad", Parent: &store.Position{Session: "good", Seq: 1}}}, store.ErrConflict},
		"a gap":          {store.Imported{NewSession: store.NewSession{ID: "bad"}, Past: past([]store.Event{events[0], events[2]})}, store.ErrConflict},
		"begins late":    {store.Imported{NewSession: store.NewSession{ID: "bad"}, Past: past(events[1:])}, store.ErrConflict},
		"a changed body": {store.Imported{NewSession: store.NewSession{ID: "bad"}, Past: past(changed)}, store.ErrConflict},
		"of another":     {store.Imported{NewSession: store.NewSession{ID: "bad"}, Past: past(good)}, store.ErrConflict},
		"a false end":    {store.Imported{NewSession: store.NewSession{ID: "bad", Events: events[2:]}, Past: past(events[:1])}, store.ErrConflict},
		"cannot be read": {store.Imported{NewSession: store.NewSession{ID: "bad"}, Past: func(yield func(store.Event, error) bool) {
			_ = yield(events[0], nil) && yield(store.Event{}, broken)
		}}, broken},
	} {
		first := store.Imported{NewSession: store.NewSession{ID: "good"}, Past: past(good), Bytes: bodies(good)}
		if err := e.importer(s).Import(e.ctx, first, c.bad); !errors.Is(err, c.want) {
			e.Errorf("%s: %v", name, err)
		}
		for _, id := range []string{"good", "bad"} {
			if _, err := s.Get(e.ctx, id); !errors.Is(err, store.ErrNotFound) {
				e.Errorf("%s: %s is there: %v", name, id, err)
			}
		}
	}
	e.must(e.importer(s).Import(e.ctx, store.Imported{NewSession: store.NewSession{ID: "good"}, Past: past(good), Bytes: bodies(good)}))
	if got := e.log(s, "good"); !reflect.DeepEqual(got, good) {
		e.Errorf("log: %+v", got)
	}
}

// importBeside: an import that is refused costs those who write at the same time nothing.
func importBeside(e *env) {
	s := e.open()
	i := e.importer(s)
	e.create(s, "there")
	w := e.acquire(s, "there")
	done := make(chan error)
	go func() {
		var failed error
		for range 50 {
			if err := i.Import(e.ctx, store.Imported{NewSession: store.NewSession{ID: "bad"}, Past: past(Events("other", store.Head{}, 2))}); !errors.Is(err, store.ErrConflict) {
				failed = errors.Join(failed, errors.New("an import that does not hold together was taken"), err)
			}
		}
		done <- failed
	}()
	for range 50 {
		e.must(w.append(e.ctx, 1))
	}
	e.must(<-done)
	if got := e.log(s, "there"); !reflect.DeepEqual(got, w.acked) {
		e.Errorf("%d events, want %d", len(got), len(w.acked))
	}
}

// importFurther: a session that is there goes on with the rest of its log. What is forked from it, waits in its inbox
// or was read of it stays, and the next holder's epoch is greater than any of both.
func importFurther(e *env) {
	s := e.open()
	events := Events("a", store.Head{}, 9)
	was, here := store.Head{Seq: 4, Hash: events[3].Hash}, store.Head{Seq: 8, Hash: events[7].Hash}
	e.must(s.Create(e.ctx, store.NewSession{ID: "a", Owner: "me", Created: 7, Events: events[:4]}))
	e.must(s.Create(e.ctx, store.NewSession{ID: "fork", Parent: &store.Position{Session: "a", Seq: 3, Hash: events[2].Hash}}))
	if _, err := s.Send(e.ctx, "a", store.Item{Key: "waits", Kind: "app", Body: []byte("x")}); err != nil {
		e.must(err)
	}
	heads := store.Heads{Title: "t", Lifecycle: "open", Labels: map[string]string{"k": "v"}}
	for _, epoch := range []int64{5, 3} { // of another home's holders, then of one that had fewer
		e.must(e.importer(s).Import(e.ctx, store.Imported{
			NewSession: store.NewSession{ID: "a", Heads: heads},
			Past:       past(events[was.Seq:here.Seq]), Bytes: bodies(events[was.Seq:here.Seq]), Epoch: epoch, Here: &was,
		}))
		was = here
		here = store.Head{Seq: 9, Hash: events[8].Hash}
	}
	want := store.Info{
		ID: "a", Owner: "me", Created: 7, Updated: events[8].Time, Heads: heads, Head: here, Epoch: 5, Bytes: bodies(events), Pending: 1,
	}
	for _, s := range []store.Store{s, e.open()} {
		if got := e.get(s, "a"); !reflect.DeepEqual(got, want) {
			e.Errorf("got  %+v\nwant %+v", got, want)
		}
		if got := e.log(s, "a"); !reflect.DeepEqual(got, events) {
			e.Errorf("the log is another: %d events", len(got))
		}
	}
	if got := e.get(s, "fork").Parent; got == nil || got.Seq != 3 {
		e.Errorf("the fork's parent: %+v", got)
	}
	if page, err := s.List(e.ctx, store.Query{Labels: map[string]string{"k": "v"}}); err != nil || len(page.Sessions) != 1 {
		e.Errorf("listing: %+v, %v", page, err)
	}
	w := e.acquire(s, "a")
	if w.lease.Epoch != 6 {
		e.Errorf("the next lease has epoch %d", w.lease.Epoch)
	}
	e.must(w.append(e.ctx, 1))
}

// importFurtherOrNot: what does not follow the log that is there changes nothing, nor does it while somebody has the
// session.
func importFurtherOrNot(e *env) {
	s := e.open()
	events, others := Events("a", store.Head{}, 5), Events("b", store.Head{}, 2)
	e.must(s.Create(e.ctx, store.NewSession{ID: "a", Events: events[:2]}))
	at := func(seq int64) *store.Head { return &store.Head{Seq: seq, Hash: events[seq-1].Hash} }
	before := e.get(s, "a")
	broken := errors.New("cannot be read")
	for name, c := range map[string]struct {
		bad  store.Imported
		want error
	}{
		"is not there":       {store.Imported{NewSession: store.NewSession{ID: "none"}, Past: past(events[2:]), Here: at(2)}, store.ErrNotFound},
		"ends earlier":       {store.Imported{NewSession: store.NewSession{ID: "a"}, Past: past(events[3:]), Here: at(3)}, store.ErrConflict},
		"ends later":         {store.Imported{NewSession: store.NewSession{ID: "a"}, Past: past(events[1:]), Here: at(1)}, store.ErrConflict},
		"ends with another":  {store.Imported{NewSession: store.NewSession{ID: "a"}, Past: past(events[2:]), Here: &store.Head{Seq: 2, Hash: others[1].Hash}}, store.ErrConflict},
		"a gap":              {store.Imported{NewSession: store.NewSession{ID: "a"}, Past: past(events[3:]), Here: at(2)}, store.ErrConflict},
		"the whole log":      {store.Imported{NewSession: store.NewSession{ID: "a"}, Past: past(events), Here: at(2)}, store.ErrConflict},
		"of another session": {store.Imported{NewSession: store.NewSession{ID: "a"}, Past: past(others), Here: at(2)}, store.ErrConflict},
		"cannot be read": {store.Imported{NewSession: store.NewSession{ID: "a"}, Here: at(2), Past: func(yield func(store.Event, error) bool) {
			_ = yield(events[2], nil) && yield(store.Event{}, broken)
		}}, broken},
	} {
		first := store.Imported{NewSession: store.NewSession{ID: "good"}, Past: past(Events("good", store.Head{}, 2))}
		if err := e.importer(s).Import(e.ctx, first, c.bad); !errors.Is(err, c.want) {
			e.Errorf("%s: %v", name, err)
		}
		if _, err := s.Get(e.ctx, "good"); !errors.Is(err, store.ErrNotFound) {
			e.Errorf("%s: the one before it is there: %v", name, err)
		}
		if got := e.get(s, "a"); !reflect.DeepEqual(got, before) || len(e.log(s, "a")) != 2 {
			e.Errorf("%s: it is %+v with %d events", name, got, len(e.log(s, "a")))
		}
	}
	w := e.acquire(s, "a")
	rest := store.Imported{NewSession: store.NewSession{ID: "a"}, Past: past(events[2:]), Here: at(2)}
	var held *store.HeldError
	if err := e.importer(s).Import(e.ctx, rest); !errors.As(err, &held) || len(e.log(s, "a")) != 2 {
		e.Errorf("while somebody has it: %v, %d events", err, len(e.log(s, "a")))
	}
	e.must(s.Release(e.ctx, w.lease))
	e.must(e.importer(s).Import(e.ctx, rest))
	if got := e.log(s, "a"); !reflect.DeepEqual(got, events) {
		e.Errorf("log: %+v", got)
	}
}

// importListed: sessions that were imported are in a listing once each, however large its pages, also when their times are
// equal, and after one of them went on.
func importListed(e *env) {
	s := e.open()
	to := e.importer(s)
	e.must(s.Create(e.ctx, store.NewSession{ID: "a", Created: 1000}))
	e.must(to.Import(e.ctx, store.Imported{NewSession: store.NewSession{ID: "b", Created: 1000}}, store.Imported{NewSession: store.NewSession{ID: "c", Created: 1000}}))
	e.must(s.Create(e.ctx, store.NewSession{ID: "d", Created: 1000}))
	look := func(want ...string) {
		for _, limit := range []int{1, 2, 3, 0} {
			if got := e.listAll(s, store.Query{Limit: limit}); !slices.Equal(got, want) {
				e.Errorf("limit %d: %q, want %q", limit, got, want)
			}
		}
	}
	look("d", "c", "b", "a")
	for _, id := range []string{"b", "a"} {
		e.must(to.Import(e.ctx, store.Imported{NewSession: store.NewSession{ID: id}, Past: past(Events(id, e.zero(), 1)), Here: &store.Head{}}))
	}
	look("b", "a", "d", "c")
}
