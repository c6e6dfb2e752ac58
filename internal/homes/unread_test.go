package homes

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

var errUnread = errors.New("the disk cannot be read")

// unread is a store of which one look fails: the one after so many.
type unread struct {
	store.Store
	after int
	met   bool // it has failed
	torn  bool // it never fails: all events that are read have half of their body
}

func (u *unread) fails() bool {
	u.after--
	u.met = u.met || u.after == -1
	return u.after == -1
}

func (u *unread) Get(ctx context.Context, id string) (store.Info, error) {
	if u.fails() {
		return store.Info{}, errUnread
	}
	return u.Store.Get(ctx, id)
}

func (u *unread) List(ctx context.Context, q store.Query) (store.Page, error) {
	if u.fails() {
		return store.Page{}, errUnread
	}
	return u.Store.List(ctx, q)
}

func (u *unread) Read(ctx context.Context, id string, from, to int64) iter.Seq2[store.Event, error] {
	if u.fails() {
		return func(yield func(store.Event, error) bool) { yield(store.Event{}, errUnread) }
	}
	return func(yield func(store.Event, error) bool) {
		for ev, err := range u.Store.Read(ctx, id, from, to) {
			if u.torn {
				ev.Body = ev.Body[:len(ev.Body)/2]
			}
			if !yield(ev, err) {
				return
			}
		}
	}
}

// What is found out of logs is told whole or not at all: whichever look at the store fails, so does the question.
func TestWhatCannotBeReadIsTold(t *testing.T) {
	w := newWitness(t)
	w.session("n", w.dir)
	w.all("n", w.dir, "before zero")
	w.all("s", w.dir, "before zero,act one")
	w.restored("s", session.RestoreDone, w.zero)
	w.all("n", w.dir, "act two")
	whole := w.h.store
	defer func() { w.h.store = whole }()
	for what, ask := range map[string]func() error{
		"who has changed files": func() error {
			_, err := w.h.others(t.Context(), engine.RestoreRequest{Session: "s", Dir: w.dir, Target: w.zero})()
			return err
		},
		"what was undone": func() error { _, err := w.h.Undone(t.Context(), "s"); return err },
	} {
		looks := 0
		for u := (&unread{met: true}); u.met; looks++ {
			u = &unread{Store: whole, after: looks}
			w.h.store = u
			if err := ask(); u.met != errors.Is(err, errUnread) {
				t.Errorf("%s, look %d failed: %t, %v", what, looks, u.met, err)
			}
		}
		if looks < 3 {
			t.Errorf("%s: only %d looks", what, looks)
		}
		w.h.store = &unread{Store: whole, after: -1, torn: true}
		if err := ask(); err == nil {
			t.Errorf("%s: no event can be understood, and there is no error", what)
		}
	}
	if _, err := w.h.Undone(t.Context(), "missing"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what was undone in no session: %v", err)
	}
}
