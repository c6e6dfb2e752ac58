package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/redact"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// naming is a stage whose model greets, and says what a test gives when it is asked for a title.
func naming(t *testing.T, title func(try int) (*modelapi.Response, error)) (s *stage, asked *[]modelapi.Request) {
	s, asked = newStage(t), new([]modelapi.Request)
	s.answer = func(_ context.Context, _ int, r modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
		if r.Act == "title" {
			*asked = append(*asked, r)
			return title(len(*asked))
		}
		return reply(modelapi.StopEndTurn, text(" Hello Ada ")), nil
	}
	return s, asked
}

func called(title string) func(int) (*modelapi.Response, error) {
	return func(int) (*modelapi.Response, error) {
		return reply(modelapi.StopEndTurn, thinking("hm"), text(title)), nil
	}
}

// titles runs a session that may name itself until it rests.
func titles(t *testing.T, se *engine.Session) *session.State {
	t.Helper()
	se.Titles(true)
	if err := se.RunWaiting(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return se.State()
}

// A session whose first turn ended well asks for its name once: of the prompt and the answer, with no tools. What that
// took is counted.
func TestASessionNamesItself(t *testing.T) {
	for _, serves := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, asked := naming(t, called("## \"A greeting for Ada.\"\nand more"))
			p, se := s.start("  greet Ada ")
			if serves {
				se.Titles(true)
				ctx, stop := context.WithCancel(t.Context())
				over := make(chan error, 1)
				go func() { over <- se.Serve(ctx, func(*session.State) {}) }()
				synctest.Wait()
				stop()
				<-over
			} else {
				titles(t, se)
			}
			if len(*asked) != 1 || se.State().Title != "A greeting for Ada" {
				t.Fatalf("asked %d times, it is called %q", len(*asked), se.State().Title)
			}
			r := (*asked)[0]
			if got := r.Messages[0].Blocks[0].Text; got != "Somebody wrote:\n\ngreet Ada\n\nThe answer:\n\nHello Ada\n\nA title for this, please." ||
				len(r.Tools) > 0 || r.MaxTokens != 200 || !strings.Contains(r.System, "3 to 7 words") {
				t.Errorf("asked with %q, %d tokens, tools %s:\n%s", r.System, r.MaxTokens, r.Tools, got)
			}
			if u := se.State().Usage; len(u) != 1 || u[0].Usage.Input != 20 || u[0].Usage.Output != 10 || u[0].Usage.LostInput != 0 {
				t.Errorf("counted: %+v", u)
			}
			p.say("again")
			if titles(t, se); len(*asked) != 1 {
				t.Error("a session that has a name asked for one")
			}
			must(t, se.Close(t.Context(), ""))
		})
	}
}

// Nobody asks for a name where none is wanted, where the session has one, or where the turn did not end well.
func TestWhoAsksForNoTitle(t *testing.T) {
	s, asked := naming(t, called("A name"))
	p, se := s.start("greet")
	se.Titles(true)
	se.Titles(false)
	must(t, se.RunWaiting(t.Context(), nil))
	title := "Given"
	p.send("name", &session.Labelled{Title: &title})
	if titles(t, se); len(*asked) > 0 || se.State().Title != "Given" {
		t.Errorf("asked %d times, it is called %q", len(*asked), se.State().Title)
	}

	s, asked = naming(t, called("A name"))
	greets := s.answer
	s.answer = func(ctx context.Context, n int, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
		out, err := greets(ctx, n, r, sink)
		if r.Act != "title" && n == 0 {
			out.Stop = modelapi.StopMaxTokens
		}
		return out, err
	}
	p, se = s.start("greet")
	if titles(t, se); len(*asked) > 0 {
		t.Error("asked after a turn that failed")
	}
	se = p.resume(se, engine.Options{})
	if titles(t, se); len(*asked) > 0 {
		t.Error("asked for a turn of an earlier holder")
	}
	p.say("again")
	if titles(t, se); len(*asked) != 1 {
		t.Errorf("asked %d times after a good turn", len(*asked))
	}
}

// A refusal of the API is an answer, and no name is asked for again; a call that breaks off is tried after the next turn,
// three times in all, and counts as lost.
func TestATitleThatDoesNotCome(t *testing.T) {
	for name, c := range map[string]struct {
		come func(int) (*modelapi.Response, error)
		want int
	}{
		"refused": {func(int) (*modelapi.Response, error) {
			return nil, &modelapi.Error{Class: modelapi.ClassInvalid, Status: 400}
		}, 1},
		"down": {func(int) (*modelapi.Response, error) {
			return nil, &modelapi.Error{Class: modelapi.ClassServer, Status: 500}
		}, 1},
		"away": {func(int) (*modelapi.Response, error) { return nil, &modelapi.Error{Class: modelapi.ClassUnreached} }, 1},
		"half": {func(int) (*modelapi.Response, error) {
			return nil, &modelapi.Error{Class: modelapi.ClassServer, Started: true, Status: 500}
		}, 3},
		"broken":   {func(int) (*modelapi.Response, error) { return nil, &modelapi.Error{Class: modelapi.ClassDisconnect} }, 3},
		"nothing":  {func(int) (*modelapi.Response, error) { return nil, nil }, 3}, //nolint:nilnil // a provider of somebody's own
		"panics":   {func(int) (*modelapi.Response, error) { panic("of a provider") }, 3},
		"other":    {func(int) (*modelapi.Response, error) { return nil, errors.New("odd") }, 3},
		"too long": {called(strings.Repeat("word ", 20)), 1},
	} {
		s, asked := naming(t, c.come)
		p, se := s.start("greet")
		for range 5 {
			if len(*asked) == 0 {
				se.Titles(true)
			}
			must(t, se.RunWaiting(t.Context(), nil))
			p.say("again")
		}
		lost := int64(0)
		for _, u := range se.State().Usage {
			lost += u.Usage.LostInput
		}
		if len(*asked) != c.want || se.State().Title != "" || (lost > 0) != (c.want == 3) {
			t.Errorf("%s: asked %d times, want %d; it is called %q, %d tokens lost", name, len(*asked), c.want, se.State().Title, lost)
		}
	}
}

// A budget is not spent on a name that could take more than is left of it.
func TestATitleWithinTheBudget(t *testing.T) {
	const tokens = 110 // more than the prompt of the call has
	for _, c := range []struct {
		price  *model.Price
		budget int64
		want   int
	}{
		{nil, 0, 1},
		{nil, 1000, 0}, // nobody knows what it would take
		{&model.Price{Input: 1, Output: 1}, 0, 1},
		{&model.Price{Input: 1, Output: 1}, 1000, 1},
		{&model.Price{Input: 0, Output: 1}, 205, 1}, // 5 are spent, and the reply has 200 at most
		{&model.Price{Input: 0, Output: 1}, 204, 0},
		{&model.Price{Input: 10, Output: 0}, 100 + 10*tokens, 1},
		{&model.Price{Input: 10, Output: 0}, 100 + 10*20, 0},
	} {
		s, asked := naming(t, called("A name"))
		s.spec = func(sp *engine.Spec) { sp.Agent.Price = c.price }
		_, se := s.start("greet")
		run(t, se)
		must(t, se.Configure(t.Context(), engine.Options{BudgetNano: &c.budget}))
		if titles(t, se); len(*asked) != c.want {
			t.Errorf("%+v of %d: asked %d times, want %d", c.price, c.budget, len(*asked), c.want)
		}
	}
}

// A name that holds a secret has the secret's name in its place.
func TestATitleHoldsNoSecret(t *testing.T) {
	s, _ := naming(t, called("Log in with "+secretValue))
	s.config = func(c *engine.Config) { c.Secrets = redact.New(map[string]string{"TOK": secretValue}) }
	p, se := s.start("greet")
	if st := titles(t, se); st.Title != "Log in with [secret:TOK]" {
		t.Errorf("it is called %q", st.Title)
	}
	leaked(t, "log", logged(t, p.store))
}

// A call for a title is given up for a message: the turn begins at once.
func TestAMessageComesBeforeTheTitle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, asked := naming(t, called("A name"))
		greets, p := s.answer, process{}
		s.answer = func(ctx context.Context, n int, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
			out, err := greets(ctx, n, r, sink)
			if r.Act == "title" && len(*asked) == 1 {
				p.say("wait")
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return out, err
		}
		var se *engine.Session
		p, se = s.start("greet")
		if st := titles(t, se); st.Turns != 2 || len(*asked) != 2 || st.Title != "A name" {
			t.Errorf("%d turns, asked %d times, it is called %q", st.Turns, len(*asked), st.Title)
		}
		must(t, se.Close(t.Context(), ""))
	})
}

// What no store could append is no name: the run goes on.
func TestATitleIsNoReasonToStop(t *testing.T) {
	s, asked := naming(t, called("A name"))
	var gone bool
	s.config = func(c *engine.Config) {
		c.Provider = func(string) (modelapi.Provider, error) {
			if gone {
				return nil, errors.New("no key")
			}
			return s, nil
		}
	}
	greets := s.answer
	s.answer = func(ctx context.Context, n int, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
		gone = true
		return greets(ctx, n, r, sink)
	}
	p, se := s.start("greet")
	if st := titles(t, se); st.Turns != 1 || len(*asked) > 0 {
		t.Errorf("%d turns, asked %d times", st.Turns, len(*asked))
	}
	if n := happened(t, p, session.KindTitleRequested); n > 0 {
		t.Errorf("%d requests in the log, and no model", n)
	}
}
