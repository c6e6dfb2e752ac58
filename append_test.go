package perdure_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Events of a program's own go into a session that nobody holds, one commit each, with nothing of a holder beside them.
func TestAppend(t *testing.T) {
	h, _ := doorHome(t)
	id, err := h.Create(t.Context(), perdure.Spec{ID: "s", Cwd: "/"})
	if err != nil {
		t.Fatal(err)
	}
	append1 := func(opt perdure.AppendOptions, bodies ...session.Body) (session.Head, error) {
		return h.Append(t.Context(), id, opt, perdure.User, bodies...)
	}
	ok := must(t)
	first := ok(append1(perdure.AppendOptions{}, perdure.AppEvent("n", []byte("1")), &session.StateSet{Key: "k", Value: []byte("v")}))
	if first.Seq != 3 {
		t.Errorf("the head is %d", first.Seq)
	}
	ok(append1(perdure.AppendOptions{Key: "once"}, perdure.AppEvent("n", []byte("2"))))
	if again := ok(append1(perdure.AppendOptions{Key: "once"}, perdure.AppEvent("n", []byte("2")))); again.Seq != 4 {
		t.Errorf("the same again: head %d", again.Seq)
	}
	for _, bad := range []struct {
		opt  perdure.AppendOptions
		body session.Body
		want error
	}{
		{perdure.AppendOptions{Key: "once"}, perdure.AppEvent("n", []byte("3")), store.ErrKeyReused},
		{perdure.AppendOptions{Expect: &first}, perdure.AppEvent("n", nil), store.ErrConflict},
		{perdure.AppendOptions{}, &session.TurnEnded{N: 4}, session.ErrUnfit},
		{perdure.AppendOptions{}, nil, session.ErrUnfit},
	} {
		if _, err := append1(bad.opt, bad.body); !errors.Is(err, bad.want) {
			t.Errorf("want %v, got %v", bad.want, err)
		}
	}
	if _, err := append1(perdure.AppendOptions{Key: "empty"}); !errors.Is(err, session.ErrUnfit) {
		t.Errorf("no events: %v", err)
	}
	if _, err := h.Append(t.Context(), "none", perdure.AppendOptions{}, perdure.User, perdure.AppEvent("n", nil)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such session: %v", err)
	}
	r, err := h.Record(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := append1(perdure.AppendOptions{}, perdure.AppEvent("n", nil)); !errors.Is(err, store.ErrHeld) {
		t.Errorf("a held session: %v", err)
	}
	ok(r.User(t.Context(), perdure.Text("hello")))
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	ok(append1(perdure.AppendOptions{}, &session.StateSet{Key: "k2", Value: []byte("v2")}))
	st, err := h.State(t.Context(), id)
	if err != nil || string(st.Scratch["k"]) != "v" || string(st.Scratch["k2"]) != "v2" || st.Epoch != 1 {
		t.Errorf("state %+v, %v", st, err)
	}
	ok(append1(perdure.AppendOptions{Shared: []store.Shared{{Scope: "app", Key: "k", Value: []byte("v")}}}, perdure.AppEvent("n", nil)))
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
	id, err := h.Create(t.Context(), perdure.Spec{ID: "s", Cwd: "/"})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	const writers, each = 8, 25
	for w := range writers {
		all.Go(func() {
			for i := range each {
				opt := perdure.AppendOptions{Key: fmt.Sprint(w, i)}
				if _, err := h.Append(t.Context(), id, opt, perdure.User, perdure.AppEvent("n", fmt.Append(nil, w, i))); err != nil {
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
