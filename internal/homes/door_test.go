package homes_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// asker is a provider of somebody's own: its model asks the user once, and then ends.
type asker struct{}

func (asker) Name() string { return "mine" }

func (asker) Prefix(r modelapi.Request) ([32]byte, error) {
	return store.Sum([]byte(r.System)), nil
}

func (asker) Call(_ context.Context, r modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
	if len(r.Messages) > 1 {
		return &modelapi.Response{Stop: modelapi.StopEndTurn, Blocks: []model.Block{{Type: model.BlockText, Text: "thanks"}}}, nil
	}
	return &modelapi.Response{Stop: modelapi.StopToolUse, Blocks: []model.Block{{
		Type: model.BlockToolUse, Tool: &model.ToolUse{ID: "u", Name: "AskUser", Input: []byte(`{"question":"which?"}`)},
	}}}, nil
}

func doorHome(t *testing.T) (*homes.Home, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	h, err := homes.Open(t.Context(), dir, homes.Config{Provider: func(string) (modelapi.Provider, error) { return asker{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h, dir
}

// Goal: nothing outside of the home is touched by an id; what a session would lose is refused when it is sent.
func TestDoorOfTheHome(t *testing.T) {
	h, dir := doorHome(t)
	for _, id := range []string{"../../escaped", "../x", ".hidden", "a/b"} {
		if _, err := h.Create(t.Context(), engine.Spec{ID: id}); !errors.Is(err, store.ErrBadID) {
			t.Errorf("id %q: %v", id, err)
		}
	}
	if found, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*")); err != nil || len(found) > 1 {
		t.Errorf("beside the home are %v, %v", found, err)
	}
	id, err := h.Create(t.Context(), engine.Spec{Cwd: "."})
	if err != nil {
		t.Fatal(err)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if st, err := h.State(t.Context(), id); err != nil || st.Cwd != wd {
		t.Errorf("the directory . became %q, %v", st.Cwd, err)
	}
	for _, blank := range []string{"", " ", "\n\t \n", "\u200b"} {
		if _, err := h.Send(t.Context(), id, "", blank); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("prompt %q: %v", blank, err)
		}
	}
	if err := h.Deliver(t.Context(), id, "", &session.LifecycleSet{To: session.LifecycleClosed}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Send(t.Context(), id, "", "hello?"); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("send to a closed session: %v", err)
	}
	title := "still"
	if err := h.Deliver(t.Context(), id, "", &session.Labelled{Title: &title}); err != nil {
		t.Errorf("a closed session can be named: %v", err)
	}
	a, err := h.Agent(t.Context(), "mine/m1")
	if err != nil || a.Provider != "mine" || a.Model != "m1" {
		t.Errorf("agent %+v, %v", a, err)
	}
}

// A sender that takes the session itself does not wait for the next look, and wakes a run of the same process at once.
func TestSendersDoNotWait(t *testing.T) {
	h, _ := doorHome(t)
	a, err := h.Agent(t.Context(), "mine/m1")
	if err != nil {
		t.Fatal(err)
	}
	id, err := h.Create(t.Context(), engine.Spec{Agent: a})
	if err != nil {
		t.Fatal(err)
	}
	fastest := func(f func() error) time.Duration {
		best := time.Hour
		for range 30 {
			began := time.Now()
			if err := f(); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(began))
		}
		return best
	}
	name := "n"
	deliver := func() error { return h.Deliver(t.Context(), id, "", &session.Labelled{Title: &name}) }
	const look = 500 * time.Millisecond // how often a sleeper looks by itself
	if d := fastest(deliver); d >= look/5 {
		t.Errorf("a delivery to a session that nobody holds took %s", d)
	}
	asleep, over := make(chan struct{}, 1), make(chan *view.Result, 1)
	go func() {
		r, err := h.Run(t.Context(), id, homes.RunOptions{Prompt: "go", Wait: true, Asleep: func(*view.Result) { asleep <- struct{}{} }})
		if err != nil {
			t.Error(err)
		}
		over <- r
	}()
	<-asleep
	if d := fastest(deliver); d >= look/5 {
		t.Errorf("a delivery to a run that sleeps took %s", d)
	}
	if err := h.Answer(t.Context(), id, "t1.s1.b1.a1", "this one"); err != nil {
		t.Fatal(err)
	}
	if r := <-over; r == nil || r.Result != "thanks" {
		t.Errorf("result %+v", r)
	}
}
