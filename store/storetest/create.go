package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/perdure/perdure/store"
)

var createTests = []test{
	{"with first events", createBegun},
	{"refused whole", createRefused},
	{"a fork with its first event", createFork},
	{"only under an id", createID},
	{"two creators", createTwice},
}

// createBegun: the events of a creation are the log, the row says so, nobody holds it, and the first holder goes on
// from there.
func createBegun(e *env) {
	s := e.open()
	events := Events("a", store.Head{}, 3)
	heads := store.Heads{Title: "t", Lifecycle: "open"}
	e.must(s.Create(e.ctx, store.NewSession{ID: "a", Owner: "me", Created: 7, Heads: heads, Events: events}))
	last := events[2]
	want := store.Info{
		ID: "a", Owner: "me", Created: 7, Updated: last.Time, Heads: heads, Head: store.Head{Seq: 3, Hash: last.Hash},
		Bytes: int64(len(events[0].Body) + len(events[1].Body) + len(last.Body)),
	}
	if got := e.get(s, "a"); !reflect.DeepEqual(got, want) {
		e.Errorf("got  %+v\nwant %+v", got, want)
	}
	w := e.acquire(e.open(), "a")
	if w.lease.Epoch != 1 {
		e.Errorf("the first lease has epoch %d", w.lease.Epoch)
	}
	e.must(w.append(e.ctx, 2))
	if got := e.log(s, "a"); !reflect.DeepEqual(got, append(events, w.acked...)) {
		e.Errorf("log: %+v", got)
	}
	page, err := s.List(e.ctx, store.Query{})
	if err != nil || len(page.Sessions) != 1 || page.Sessions[0].Head != w.head {
		e.Errorf("listing: %+v, %v", page, err)
	}
}

// createID: an id is one harmless path element, or there is no session.
func createID(e *env) {
	s := e.open()
	for _, id := range []string{"", "../../escaped", "a/b", ".hidden", "-flag", "a\x00b", "a\nb", "a b", strings.Repeat("x", 129)} {
		if err := s.Create(e.ctx, store.NewSession{ID: id}); !errors.Is(err, store.ErrBadID) {
			e.Errorf("id %q: %v", id, err)
		}
	}
	if page, err := s.List(e.ctx, store.Query{}); err != nil || len(page.Sessions) != 0 {
		e.Errorf("listing: %+v, %v", page, err)
	}
	e.must(s.Create(e.ctx, store.NewSession{ID: strings.Repeat("x", 128)}))
}

// createRefused: what a creation is refused for leaves neither a session nor an event behind.
func createRefused(e *env) {
	s := e.open()
	events := Events("a", store.Head{}, 3)
	beyond := store.Position{Session: "p", Seq: 1}
	for name, n := range map[string]store.NewSession{
		"begins at 0": {Events: Events("a", store.Head{Seq: -1}, 2)},
		"begins at 2": {Events: events[1:]},
		"gap":         {Events: []store.Event{events[0], events[2]}},
		"no parent":   {Events: events, Parent: &beyond},
	} {
		n.ID = "a"
		if err := s.Create(e.ctx, n); err == nil || errors.Is(err, store.ErrUncertain) {
			e.Errorf("%s: %v", name, err)
		}
		if _, err := s.Get(e.ctx, "a"); !errors.Is(err, store.ErrNotFound) {
			e.Errorf("%s: it is there: %v", name, err)
		}
	}
	e.must(s.Create(e.ctx, store.NewSession{ID: "a", Events: events[:1]}))
	if err := s.Create(e.ctx, store.NewSession{ID: "a", Events: Events("a", store.Head{}, 2)}); !errors.Is(err, store.ErrExists) {
		e.Errorf("again: %v", err)
	}
	if got := e.log(s, "a"); !reflect.DeepEqual(got, events[:1]) {
		e.Errorf("log after the refusals: %+v", got)
	}
}

// createFork: the chain of a child begins at the parent's hash; one that begins elsewhere is found when it is read.
func createFork(e *env) {
	s := e.open()
	e.create(s, "p")
	w := e.acquire(s, "p")
	e.must(w.append(e.ctx, 5))
	at := store.Position{Session: "p", Seq: 3, Hash: w.acked[2].Hash}
	first := Events("c", store.Head{Hash: at.Hash}, 1)
	e.must(s.Create(e.ctx, store.NewSession{ID: "c", Parent: &at, Events: first}))
	info := e.get(s, "c")
	if info.Parent == nil || *info.Parent != at || info.Head != (store.Head{Seq: 1, Hash: first[0].Hash}) || info.Epoch != 0 || info.Holder != nil {
		e.Errorf("row of the child: %+v", info)
	}
	child := e.acquire(s, "c")
	e.must(child.append(e.ctx, 1))
	if got := e.log(s, "c"); !reflect.DeepEqual(got, append(first, child.acked...)) {
		e.Errorf("log of the child: %+v", got)
	}
	e.must(s.Create(e.ctx, store.NewSession{ID: "stray", Parent: &at, Events: Events("stray", store.Head{}, 1)}))
	_, err := e.read(s, "stray", 1, 0)
	var corrupt *store.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Seq != 1 {
		e.Errorf("a child whose chain begins elsewhere: %v", err)
	}
}

// createTwice: of those who create the same session at once one succeeds, and the log is that one's alone.
func createTwice(e *env) {
	stores := []store.Store{e.open(), e.open()}
	for round := range 8 {
		id := fmt.Sprint("s", round)
		logs, errs := make([][]store.Event, 6), make([]error, 6)
		e.must(each(logs, func(i int, _ []store.Event) error {
			first := Seal(id, store.Head{}, store.Event{Kind: "app", Time: 1, Codec: 1, Body: fmt.Appendf(nil, "creator %d", i)})
			logs[i] = append([]store.Event{first}, Events(id, store.Head{Seq: 1, Hash: first.Hash}, i)...)
			errs[i] = stores[i%2].Create(e.ctx, store.NewSession{ID: id, Events: logs[i]})
			return nil
		}))
		winners := 0
		got := e.log(stores[0], id)
		for i, err := range errs {
			switch {
			case err == nil:
				winners++
				if len(got) != len(logs[i]) || got[0].Hash != logs[i][0].Hash {
					e.Errorf("round %d: the log is not creator %d's", round, i)
				}
			case !errors.Is(err, store.ErrExists):
				e.Errorf("round %d: creator %d: %v", round, i, err)
			}
		}
		if winners != 1 {
			e.Errorf("round %d: %d creators succeeded", round, winners)
		}
	}
}
