package storetest

import (
	"errors"
	"iter"
	"reflect"

	"github.com/perdure/perdure/store"
)

var importTests = []test{
	{"a log as it was", importWhole},
	{"a fork with what it inherits", importFork},
	{"all or none", importAllOrNone},
	{"beside other writers", importBeside},
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
