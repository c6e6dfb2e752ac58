package homes_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Events of a program's own go into a session that nobody holds, one commit each, with nothing of a holder beside them.
func TestAppend(t *testing.T) {
	h, _ := doorHome(t)
	id, err := h.Create(t.Context(), homes.Spec{ID: "s", Cwd: "/"})
	if err != nil {
		t.Fatal(err)
	}
	append1 := func(opt homes.AppendOptions, bodies ...session.Body) (store.Head, error) {
		return h.Append(t.Context(), id, opt, homes.User, bodies...)
	}
	ok := must(t)
	first := ok(append1(homes.AppendOptions{}, homes.AppEvent("n", []byte("1")), &session.StateSet{Key: "k", Value: []byte("v")}))
	if first.Seq != 3 {
		t.Errorf("the head is %d", first.Seq)
	}
	ok(append1(homes.AppendOptions{Key: "once"}, homes.AppEvent("n", []byte("2"))))
	if again := ok(append1(homes.AppendOptions{Key: "once"}, homes.AppEvent("n", []byte("2")))); again.Seq != 4 {
		t.Errorf("the same again: head %d", again.Seq)
	}
	for _, bad := range []struct {
		opt  homes.AppendOptions
		body session.Body
		want error
	}{
		{homes.AppendOptions{Key: "once"}, homes.AppEvent("n", []byte("3")), store.ErrKeyReused},
		{homes.AppendOptions{Expect: &first}, homes.AppEvent("n", nil), store.ErrConflict},
		{homes.AppendOptions{}, &session.TurnEnded{N: 4}, session.ErrUnfit},
		{homes.AppendOptions{}, nil, session.ErrUnfit},
	} {
		if _, err := append1(bad.opt, bad.body); !errors.Is(err, bad.want) {
			t.Errorf("want %v, got %v", bad.want, err)
		}
	}
	if _, err := append1(homes.AppendOptions{Key: "empty"}); !errors.Is(err, session.ErrUnfit) {
		t.Errorf("no events: %v", err)
	}
	if _, err := h.Append(t.Context(), "none", homes.AppendOptions{}, homes.User, homes.AppEvent("n", nil)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such session: %v", err)
	}
	r, err := h.Record(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := append1(homes.AppendOptions{}, homes.AppEvent("n", nil)); !errors.Is(err, store.ErrHeld) {
		t.Errorf("a held session: %v", err)
	}
	ok(r.User(t.Context(), homes.Text("hello")))
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	ok(append1(homes.AppendOptions{}, &session.StateSet{Key: "k2", Value: []byte("v2")}))
	st, err := h.State(t.Context(), id)
	if err != nil || string(st.Scratch["k"]) != "v" || string(st.Scratch["k2"]) != "v2" || st.Epoch != 1 {
		t.Errorf("state %+v, %v", st, err)
	}
	ok(append1(homes.AppendOptions{Shared: []store.Shared{{Scope: "app", Key: "k", Value: []byte("v")}}}, homes.AppEvent("n", nil)))
	if got, err := h.Shared(t.Context(), "app"); err != nil || string(got["k"]) != "v" {
		t.Errorf("shared %q, %v", got, err)
	}
	if faults, err := h.Verify(t.Context(), id); err != nil || len(faults) > 0 {
		t.Errorf("verify: %q, %v", faults, err)
	}
}

// Many who append at once all get through, each event once, and the state is the fold of the log.
func TestAppendAtOnce(t *testing.T) {
	h, _ := doorHome(t)
	id, err := h.Create(t.Context(), homes.Spec{ID: "s", Cwd: "/"})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	const writers, each = 8, 25
	for w := range writers {
		all.Go(func() {
			for i := range each {
				opt := homes.AppendOptions{Key: fmt.Sprint(w, i)}
				if _, err := h.Append(t.Context(), id, opt, homes.User, homes.AppEvent("n", fmt.Append(nil, w, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for ev, err := range h.Events(t.Context(), id, 2, 0) {
		if err != nil {
			t.Fatal(err)
		}
		body, err := session.Decode(ev)
		if err != nil {
			t.Fatal(err)
		}
		seen[string(body.(*session.App).Data)] = true
	}
	if len(seen) != writers*each {
		t.Errorf("%d events of %d", len(seen), writers*each)
	}
	if faults, err := h.Verify(t.Context(), id); err != nil || len(faults) > 0 {
		t.Errorf("verify: %q, %v", faults, err)
	}
}
