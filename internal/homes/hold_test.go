package homes_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// puppet is a provider whose model does what the newest words of the user say.
type puppet struct {
	begun chan struct{} // of "hang": it does, until it is stopped
}

func (puppet) Name() string { return "mine" }

func (puppet) Prefix(r modelapi.Request) ([32]byte, error) {
	return store.Sum([]byte(r.System)), nil
}

func (p puppet) Call(ctx context.Context, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
	last := r.Messages[len(r.Messages)-1].Blocks
	use := func(name, input string) (*modelapi.Response, error) {
		return &modelapi.Response{Stop: modelapi.StopToolUse, Blocks: []model.Block{{
			Type: model.BlockToolUse, Tool: &model.ToolUse{ID: "u", Name: name, Input: []byte(input)},
		}}}, nil
	}
	said := last[len(last)-1].Text
	switch {
	case last[0].Result != nil:
		said = "the result is " + model.Text(last[0].Result.Content)
	case said == "ask":
		return use("AskUser", `{"question":"which?"}`)
	case strings.HasPrefix(said, "write "):
		return use("Write", fmt.Sprintf(`{"file_path":%q,"content":"x"}`, strings.TrimPrefix(said, "write ")))
	case said == "hang":
		p.begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	case said == "refuse":
		return nil, &modelapi.Error{Class: modelapi.ClassInvalid, Status: 400, Message: "no such thing"}
	}
	for _, word := range strings.SplitAfter(said, " ") {
		sink(modelapi.Delta{Kind: modelapi.DeltaText, Text: word})
	}
	return &modelapi.Response{Stop: modelapi.StopEndTurn, Blocks: []model.Block{{Type: model.BlockText, Text: said}}}, nil
}

// held is a session of the puppet, and its home.
func held(t *testing.T, opt homes.HoldOptions) (*homes.Home, *homes.Session, puppet) {
	t.Helper()
	p := puppet{begun: make(chan struct{}, 1)}
	h, err := homes.Open(t.Context(), filepath.Join(t.TempDir(), "home"), homes.Config{
		Provider: func(string) (modelapi.Provider, error) { return p, nil },
	})
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
	s, err := h.Hold(t.Context(), id, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return h, s, p
}

func prompt(t *testing.T, s *homes.Session, text string) view.Turn {
	t.Helper()
	r, err := s.Prompt(t.Context(), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

// A held session takes one prompt after the other, asks, is answered, and can be stopped: without any lease in between.
func TestHold(t *testing.T) {
	h, s, p := held(t, homes.HoldOptions{})
	if r := prompt(t, s, "hello"); r != (view.Turn{Turn: 1, StopReason: session.TurnEndTurn, Result: "hello"}) {
		t.Errorf("first turn: %+v", r)
	}
	if r := prompt(t, s, "ask"); r.Turn != 2 || r.StopReason != session.TurnWaitingAnswer {
		t.Errorf("a turn that asks: %+v", r)
	}
	ws := s.Waiting()
	if len(ws) != 1 || ws[0].Kind != "question" {
		t.Fatalf("waiting: %+v", ws)
	}
	if err := s.Answer(t.Context(), ws[0].Act, "blue"); err != nil {
		t.Fatal(err)
	}
	if r := prompt(t, s, "and on"); r.Turn != 3 || r.Result != "and on" {
		t.Errorf("after the answer: %+v", r)
	}
	over := make(chan view.Turn)
	go func() { over <- prompt(t, s, "hang") }()
	<-p.begun
	if err := s.Interrupt(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := <-over; r.StopReason != session.TurnCancelled {
		t.Errorf("an interrupted turn: %+v", r)
	}
	if r := prompt(t, s, "refuse"); r.StopReason != session.TurnError {
		t.Errorf("a turn whose model call failed: %+v", r)
	}
	if r := prompt(t, s, "again"); r.Result != "again" {
		t.Errorf("after a failed turn: %+v", r)
	}
	if _, err := s.Prompt(t.Context(), " "); !errors.Is(err, engine.ErrRefused) {
		t.Errorf("a blank prompt: %v", err)
	}
	head, err := s.Append(t.Context(), store.Actor{Type: store.ActorUser}, &session.App{Namespace: "n", Data: []byte("x")})
	if st, e := s.State(t.Context()); err != nil || e != nil || st.Head != head {
		t.Errorf("head %+v, %v, %v", head, err, e)
	}
	var busy *store.HeldError
	if _, err := h.Hold(t.Context(), s.ID(), homes.HoldOptions{}); !errors.As(err, &busy) {
		t.Errorf("held twice: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(s.Close(), s.Err()); err != nil {
		t.Error(err)
	}
	if _, err := s.Prompt(t.Context(), "late"); !errors.Is(err, engine.ErrReleased) {
		t.Errorf("a prompt after Close: %v", err)
	}
	if err := s.Interrupt(t.Context()); !errors.Is(err, engine.ErrReleased) {
		t.Errorf("an interrupt after Close: %v", err)
	}
	resumed := 0
	for ev, err := range h.Events(t.Context(), s.ID(), 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == session.KindResumed {
			resumed++
		}
	}
	if resumed != 1 {
		t.Errorf("the lease was taken %d times", resumed)
	}
}

// Each call that waits is brought before the program once, and goes by its answer.
func TestHoldAsksForApproval(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	_, s, _ := held(t, homes.HoldOptions{Approve: func(_ context.Context, w view.Waiting) (homes.Approval, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, w.Tool)
		return homes.Approval{Allow: len(asked) == 1, Message: "not that one"}, nil
	}})
	st, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"x.txt", "not that one"} {
		seq := int64(0)
		if r := prompt(t, s, "write "+filepath.Join(st.Cwd, "x.txt")); r.StopReason != session.TurnEndTurn {
			t.Fatalf("prompt %d: %+v", i, r)
		}
		for u, err := range s.Updates(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if b, ok := u.Body.(*session.ToolFinished); ok && u.Event.Seq > seq && strings.HasPrefix(b.Act, fmt.Sprintf("t%d.", i+1)) {
				if text := model.Text(b.Content); !strings.Contains(text, want) {
					t.Errorf("call %d: %s", i, text)
				}
				break
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(asked, []string{"Write", "Write"}) {
		t.Errorf("asked for %q", asked)
	}
}

// Who looks on gets every event once, in order, however slowly he reads, and the model's words while they come.
func TestUpdates(t *testing.T) {
	_, s, _ := held(t, homes.HoldOptions{})
	words := strings.Repeat("word ", 3000) // more deltas than are kept
	texts, seq := 0, int64(0)
	prompted := make(chan struct{})
	go func() {
		defer close(prompted)
		prompt(t, s, words)
		prompt(t, s, "bye")
		_ = s.Close()
	}()
	for u, err := range s.Updates(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if u.Event == nil {
			texts++
			continue
		}
		if seq++; u.Event.Seq != seq {
			t.Fatalf("event %d after %d", u.Event.Seq, seq-1)
		}
		if seq == 3 { // reading stops until all is over
			<-prompted
		}
	}
	if texts == 0 {
		t.Error("no delta was seen")
	}
	if seq < 10 {
		t.Errorf("%d events were seen", seq)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.Updates(ctx, seq) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
}

// A session that is held still settles what a dead holder left and shows it, and calls no model before it may: after a
// message or Begin, the open turn goes on first.
func TestHoldStill(t *testing.T) {
	h, s, p := held(t, homes.HoldOptions{})
	if err := s.Send(t.Context(), "k", "hang"); err != nil {
		t.Fatal(err)
	}
	<-p.begun
	if err := s.Close(); err != nil { // parked in the middle of the call
		t.Fatal(err)
	}
	again, err := h.Hold(t.Context(), s.ID(), homes.HoldOptions{Still: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	if _, err := h.Send(t.Context(), s.ID(), "k2", "later"); err != nil {
		t.Fatal(err)
	}
	var st *session.State
	for range 3 { // what was left is settled, what was sent is taken in
		if st, err = again.State(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-p.begun:
		t.Fatal("the model was called")
	default:
	}
	if st.Turn == nil || st.Turns != 1 {
		t.Errorf("turn %+v", st.Turn)
	}
	rec, err := again.Recovered(t.Context())
	if err != nil || len(rec) == 0 {
		t.Errorf("recovered %+v, %v", rec, err)
	}
	if err := again.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-p.begun
}
