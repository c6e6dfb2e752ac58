package homes_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// talker is a provider whose model says a word each time that it is let.
type talker struct{ word chan string }

func (talker) Name() string { return "mine" }

func (talker) Prefix(r modelapi.Request) ([32]byte, error) { return store.Sum([]byte(r.System)), nil }

func (p talker) Call(ctx context.Context, _ modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
	var said strings.Builder
	for {
		select {
		case w := <-p.word:
			if w == "" {
				return &modelapi.Response{Stop: modelapi.StopEndTurn, Blocks: []model.Block{{Type: model.BlockText, Text: said.String()}}}, nil
			}
			said.WriteString(w)
			sink(modelapi.Delta{Kind: modelapi.DeltaText, Text: w})
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// talking is a home with a held session of the talker, and its directory.
func talking(t *testing.T) (*homes.Home, *homes.Session, talker, string) {
	t.Helper()
	p := talker{word: make(chan string)}
	dir := filepath.Join(t.TempDir(), "home")
	h, err := homes.Open(t.Context(), dir, homes.Config{Provider: func(string) (modelapi.Provider, error) { return p, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	a, err := h.Agent(t.Context(), "mine/m1")
	if err != nil {
		t.Fatal(err)
	}
	id, err := h.Create(t.Context(), engine.Spec{Agent: a, Cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.Hold(t.Context(), id, homes.HoldOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return h, s, p, dir
}

// say has the model say a word, and fails the test if no call listens.
func (p talker) say(t *testing.T, word string) {
	t.Helper()
	select {
	case p.word <- word:
	case <-time.After(20 * time.Second):
		t.Fatalf("no model call takes %q", word)
	}
}

// Goal: who watches from another home, as another process does, reads the model's words before the reply is whole, also
// one who comes in the middle of it, and every event once.
func TestWatchFromOutside(t *testing.T) {
	_, s, p, dir := talking(t)
	if err := s.Send(t.Context(), "k", "go"); err != nil {
		t.Fatal(err)
	}
	p.say(t, "one ")
	other, err := homes.Open(t.Context(), dir, homes.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	heard, seq := "", int64(0)
	for u, err := range other.Watch(ctx, s.ID(), 0) {
		if err != nil {
			t.Fatalf("after %q and event %d: %v", heard, seq, err)
		}
		if u.Event == nil {
			heard += u.Text
			switch heard {
			case "one ":
				p.say(t, "two ")
			case "one two ":
				p.say(t, "")
			}
			continue
		}
		if seq++; u.Event.Seq != seq {
			t.Fatalf("event %d after %d", u.Event.Seq, seq-1)
		}
		if _, ok := u.Body.(*session.TurnEnded); ok {
			break
		}
	}
	if heard != "one two " {
		t.Errorf("heard %q", heard)
	}
}

// A message that waits for its turn can be taken back, once, by the key that it was sent with; the model never sees it.
func TestWithdraw(t *testing.T) {
	h, s, p, _ := talking(t)
	for _, m := range [][2]string{{"k1", "first"}, {"k2", "second"}, {"k3", "third"}} {
		if err := s.Send(t.Context(), m[0], m[1]); err != nil {
			t.Fatal(err)
		}
	}
	p.say(t, "a")
	if err := h.Withdraw(t.Context(), s.ID(), "k2"); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"k1", "k2", "nobody's"} {
		if err := h.Withdraw(t.Context(), s.ID(), key); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("%s taken back: %v", key, err)
		}
	}
	p.say(t, "") // the first turn is over, the second one begins
	p.say(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for u, err := range s.Updates(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := u.Body.(*session.TurnEnded); ok && e.N == 2 {
			break
		}
	}
	st, err := s.State(t.Context())
	if err != nil || len(st.Queue) > 0 {
		t.Fatalf("%+v, %v", st, err)
	}
	tr, err := h.Transcript(t.Context(), st)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range tr.Messages() {
		for _, b := range m.Blocks {
			said = append(said, b.Text)
		}
	}
	if all := strings.Join(said, "|"); strings.Contains(all, "second") || !strings.Contains(all, "third") {
		t.Errorf("the model saw %s", all)
	}
}

// Mode and model change while a session is held, from any process; the mode in which nothing asks only by its holder.
func TestConfigure(t *testing.T) {
	h, s, _, _ := talking(t)
	if err := h.Configure(t.Context(), s.ID(), homes.Options{Mode: permission.ModePlan}); err != nil {
		t.Fatal(err)
	}
	a, err := h.Agent(t.Context(), "mine/m2")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Configure(t.Context(), s.ID(), homes.Options{Agent: &a}); err != nil {
		t.Fatal(err)
	}
	if err := h.Configure(t.Context(), s.ID(), homes.Options{Mode: permission.ModeBypass}); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("bypass from outside: %v", err)
	}
	st, err := s.State(t.Context())
	if err != nil || st.Config.Mode != "plan" || st.Agent.Model != "m2" {
		t.Errorf("mode %s, model %s, %v", st.Config.Mode, st.Agent.Model, err)
	}
	if err := s.Configure(t.Context(), homes.Options{Mode: permission.ModeBypass}); err != nil {
		t.Fatal(err)
	}
	if st, err = s.State(t.Context()); err != nil || st.Config.Mode != "bypassPermissions" {
		t.Errorf("mode %s, %v", st.Config.Mode, err)
	}
}
