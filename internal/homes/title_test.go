package homes_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
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

// namer is a provider that answers with what it was told last, and gives titles.
type namer struct {
	title string
	fail  error
	held  chan struct{} // a title is given once it is closed; nil: at once
	asked *atomic.Int32 // for titles
	seen  chan modelapi.Request
}

func (namer) Name() string { return "mine" }

func (namer) Prefix(r modelapi.Request) ([32]byte, error) { return store.Sum([]byte(r.System)), nil }

func (n namer) Call(ctx context.Context, r modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
	last := r.Messages[len(r.Messages)-1].Blocks
	said := last[len(last)-1].Text
	if r.Act != "title" {
		return &modelapi.Response{Stop: modelapi.StopEndTurn, Blocks: []model.Block{{Type: model.BlockText, Text: said}}, Usage: model.Usage{Input: 10, Output: 1}}, nil
	}
	n.asked.Add(1)
	select {
	case n.seen <- r:
	default:
	}
	if n.held != nil {
		select {
		case <-n.held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if n.fail != nil {
		return nil, n.fail
	}
	return &modelapi.Response{Stop: modelapi.StopEndTurn, Blocks: []model.Block{{Type: model.BlockText, Text: n.title}}, Usage: model.Usage{Input: 100, Output: 7}}, nil
}

// titled is a session of the namer that is held with titles, and its home.
func titled(t *testing.T, n namer, title string, opt homes.HoldOptions) (*homes.Home, *homes.Session) {
	t.Helper()
	h, err := homes.Open(t.Context(), filepath.Join(t.TempDir(), "home"), homes.Config{
		Provider: func(string) (modelapi.Provider, error) { return n, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	a, err := h.Agent(t.Context(), "mine/m1")
	if err != nil {
		t.Fatal(err)
	}
	a.Price = &model.Price{Input: 1000, Output: 1000}
	id, err := h.Create(t.Context(), engine.Spec{Agent: a, Cwd: t.TempDir(), Title: title})
	if err != nil {
		t.Fatal(err)
	}
	s, err := h.Hold(t.Context(), id, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return h, s
}

// becomes waits until the session is as wanted.
func becomes(t *testing.T, s *homes.Session, what string, ok func(*session.State) bool) *session.State {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); ; <-tick.C {
		st, err := s.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if ok(st) {
			return st
		}
		if time.Now().After(end) {
			t.Fatalf("never: %s; the title is %q, the usage %+v", what, st.Title, st.Usage)
		}
	}
}

func newNamer(title string) namer {
	return namer{title: title, asked: &atomic.Int32{}, seen: make(chan modelapi.Request, 1)}
}

// After the first turn the model is asked for a title once; what that took is in the cost, and nothing of it in the
// conversation.
func TestAModelGivesTheTitle(t *testing.T) {
	n := newNamer("## \"The year of two digits.\"\nand more")
	_, s := titled(t, n, "", homes.HoldOptions{Titles: true})
	prompt(t, s, "fix the year")
	st := becomes(t, s, "a title", func(st *session.State) bool { return st.Title != "" })
	if st.Title != "The year of two digits" {
		t.Errorf("the title is %q", st.Title)
	}
	if u := st.Usage[0]; u.Calls != 2 || u.Lost != 0 || u.Usage.Input != 110 || u.Usage.LostInput != 0 || st.Spent != 118_000 {
		t.Errorf("usage %+v, spent %d", u, st.Spent)
	}
	r := <-n.seen
	if len(r.Tools) > 0 || r.MaxTokens > 1000 || len(r.Messages) != 1 || !strings.Contains(r.Messages[0].Blocks[0].Text, "fix the year") {
		t.Errorf("what was asked: %+v", r)
	}
	if got := prompt(t, s, "and on"); got.Result != "and on" {
		t.Errorf("the next turn: %+v", got)
	}
	if n.asked.Load() != 1 {
		t.Errorf("asked %d times", n.asked.Load())
	}
}

// A title that a person gave stays, before the model was asked and while it thinks; without the option it is not asked.
func TestATitleOfAPersonStays(t *testing.T) {
	for name, c := range map[string]struct {
		title string
		on    bool
	}{"named": {"mine", true}, "off": {"", false}} {
		n := newNamer("Another One")
		_, s := titled(t, n, c.title, homes.HoldOptions{Titles: c.on})
		prompt(t, s, "one")
		prompt(t, s, "two")
		if st := becomes(t, s, "two turns", func(st *session.State) bool { return st.Turns == 2 }); st.Title != c.title || n.asked.Load() != 0 {
			t.Errorf("%s: %q, asked %d times", name, st.Title, n.asked.Load())
		}
	}
	n := newNamer("Another One")
	n.held = make(chan struct{})
	_, s := titled(t, n, "", homes.HoldOptions{Titles: true})
	prompt(t, s, "one")
	<-n.seen
	mine := "mine"
	if _, err := s.Append(t.Context(), store.Actor{Type: store.ActorUser}, &session.Labelled{Title: &mine}); err != nil {
		t.Fatal(err)
	}
	close(n.held)
	st := becomes(t, s, "the call is counted", func(st *session.State) bool { return st.Usage[0].Calls == 2 })
	if st.Title != "mine" {
		t.Errorf("the title is %q", st.Title)
	}
}

// A turn does not wait for a title: the call is given up, and what it may have taken is counted as lost. It is made
// again after that turn, three times at most.
func TestATurnDoesNotWaitForATitle(t *testing.T) {
	n := newNamer("Too Late")
	n.held = make(chan struct{})
	_, s := titled(t, n, "", homes.HoldOptions{Titles: true})
	prompt(t, s, "one")
	<-n.seen
	if got := prompt(t, s, "two"); got.Result != "two" || got.Turn != 2 {
		t.Errorf("the turn: %+v", got)
	}
	<-n.seen // again, after that turn
	for i := range 3 {
		prompt(t, s, "more")
		becomes(t, s, "the turn is over", func(st *session.State) bool { return st.Turns == 3+i })
	}
	st := becomes(t, s, "it is asked no more", func(st *session.State) bool { return st.Turns == 5 && st.Usage[0].Lost == 3 })
	if u := st.Usage[0]; st.Title != "" || u.Calls != 5 || u.Usage.LostInput < 30 || n.asked.Load() != 3 {
		t.Errorf("title %q, usage %+v, asked %d times", st.Title, u, n.asked.Load())
	}
}

// A session that is given back while the model thinks of a title has none, and the call counts as lost; the next
// holder's first turn asks again. What an API refuses is not counted.
func TestATitleIsThereWholeOrNotAtAll(t *testing.T) {
	n := newNamer("Given At Last")
	n.held = make(chan struct{})
	h, s := titled(t, n, "", homes.HoldOptions{Titles: true})
	prompt(t, s, "one")
	<-n.seen
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := h.Hold(t.Context(), s.ID(), homes.HoldOptions{Titles: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if st := becomes(t, s, "open", func(*session.State) bool { return true }); st.Title != "" || st.Usage[0].Lost != 1 {
		t.Errorf("title %q, usage %+v", st.Title, st.Usage)
	}
	close(n.held)
	prompt(t, s, "two")
	becomes(t, s, "a title", func(st *session.State) bool { return st.Title == "Given At Last" && st.Usage[0].Lost == 1 })

	n = newNamer("")
	n.fail = &modelapi.Error{Class: modelapi.ClassInvalid, Status: 400, Message: "no"}
	_, s = titled(t, n, "", homes.HoldOptions{Titles: true})
	prompt(t, s, "one")
	st := becomes(t, s, "refused", func(st *session.State) bool { return n.asked.Load() == 1 && st.Usage[0].Lost == 0 })
	if st.Title != "" || st.Usage[0].Calls != 1 || st.Spent != 11_000 {
		t.Errorf("title %q, usage %+v, spent %d", st.Title, st.Usage, st.Spent)
	}
}

// ran runs a prompt in a session of the namer as who runs one without a terminal does.
func ran(t *testing.T, ctx context.Context, n namer, opt homes.RunOptions) (*homes.Home, string, *view.Result) {
	t.Helper()
	h, s := titled(t, n, "", homes.HoldOptions{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := h.Run(ctx, s.ID(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return h, s.ID(), r
}

// A session without a terminal gets its title as one on the screen does: once, after its first turn, counted, and no
// part of the conversation or of the result. A run that is over when its turn is, and one that was not told to, asks
// for none.
func TestARunWithoutATerminalGetsATitle(t *testing.T) {
	n := newNamer("The Year of Two Digits")
	h, id, r := ran(t, t.Context(), n, homes.RunOptions{Prompt: "fix the year", Wait: true, Titles: true})
	st, err := h.State(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if st.Title != "The Year of Two Digits" || r.Result != "fix the year" || n.asked.Load() != 1 {
		t.Errorf("%q after %q, asked %d times", st.Title, r.Result, n.asked.Load())
	}
	if u := st.Usage[0]; u.Calls != 2 || u.Lost != 0 || u.Usage.Input != 110 || st.Spent != 118_000 {
		t.Errorf("usage %+v, spent %d", u, st.Spent)
	}
	if _, err := h.Run(t.Context(), id, homes.RunOptions{Prompt: "more", Wait: true, Titles: true}); err != nil || n.asked.Load() != 1 {
		t.Errorf("%v, asked %d times", err, n.asked.Load())
	}
	for name, opt := range map[string]homes.RunOptions{"not told to": {Prompt: "a", Wait: true}, "without wait": {Prompt: "a", Titles: true}} {
		n := newNamer("Another One")
		if ran(t, t.Context(), n, opt); n.asked.Load() != 0 {
			t.Errorf("%s: asked %d times", name, n.asked.Load())
		}
	}
}

// A title that is not given holds up nothing for long: the run ends without, and what the calls took counts as lost; and a
// signal ends it at once.
func TestATitleHoldsUpNoRun(t *testing.T) {
	n := newNamer("Never Given")
	n.fail = errors.New("not now")
	h, id, r := ran(t, t.Context(), n, homes.RunOptions{Prompt: "one", Wait: true, Titles: true})
	st, err := h.State(t.Context(), id)
	if err != nil || st.Title != "" || r.Result != "one" || n.asked.Load() > 3 || n.asked.Load() == 0 {
		t.Errorf("%q, %q, %v, asked %d times", st.Title, r.Result, err, n.asked.Load())
	}
	n = newNamer("Given Later")
	n.held = make(chan struct{})
	ctx, park := context.WithCancel(t.Context())
	defer park()
	go func() {
		<-n.seen
		park()
	}()
	h, id, r = ran(t, ctx, n, homes.RunOptions{Prompt: "one", Wait: true, Titles: true})
	if st, err = h.State(t.Context(), id); err != nil || st.Title != "" || r.Result != "one" {
		t.Errorf("parked: %q, %q, %v", st.Title, r.Result, err)
	}
}
