package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// Rule 6: a paused reply is sent back as it is and goes on; a refusal is not fed back; a reply cut off by its bound ends
// the turn with an error that says so.
func TestRule6StopReasons(t *testing.T) {
	t.Run("pause", func(t *testing.T) {
		s := newStage(t)
		s.answer = func(_ context.Context, n int, r modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
			if n == 0 {
				return reply(modelapi.StopPause, text("to be")), nil
			}
			if last := r.Messages[len(r.Messages)-1]; last.Role != model.RoleAssistant || last.Blocks[0].Text != "to be" {
				t.Errorf("a paused reply is followed by something: %s", render(r.Messages))
			}
			return reply(modelapi.StopEndTurn, text("continued")), nil
		}
		_, se := s.start("go")
		if st := run(t, se); st.LastTurn.Stop != session.TurnEndTurn {
			t.Errorf("stop %s", st.LastTurn.Stop)
		}
	})
	t.Run("refusal", func(t *testing.T) {
		s := newStage(t)
		s.answer = func(_ context.Context, _ int, r modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
			if strings.Contains(render(r.Messages), "better") {
				return reply(modelapi.StopEndTurn, text("gladly")), nil
			}
			return reply(modelapi.StopRefusal, text("I will not"), use("x", "Read", `{"file_path":"/w/a"}`)), nil
		}
		p, se := s.start("bad")
		if st := run(t, se); st.LastTurn.Stop != session.TurnRefusal {
			t.Errorf("stop %s", st.LastTurn.Stop)
		}
		p.say("better")
		run(t, se)
		if got := render(s.last().Messages); strings.Contains(got, "I will not") || len(s.last().Messages) != 1 {
			t.Errorf("a refusal was fed back: %s", got)
		}
	})
	t.Run("max_tokens", func(t *testing.T) {
		s := newStage(t, reply(modelapi.StopMaxTokens, text("cut")))
		_, se := s.start("go")
		if st := run(t, se); st.LastTurn.Stop != session.TurnError || !strings.Contains(st.LastTurn.Message, "cut off") {
			t.Errorf("turn %+v", st.LastTurn)
		}
	})
}

// Rule 7: the first message is the user's, roles alternate and the last message is no reply, after failures too.
func TestRule7RolesAlternate(t *testing.T) {
	s := newStage(t)
	s.answer = func(_ context.Context, n int, r modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
		if strings.HasSuffix(render(r.Messages), "broken") {
			return nil, &modelapi.Error{Class: modelapi.ClassInvalid, Status: 400, Message: "no"}
		}
		return reply(modelapi.StopEndTurn, text("ok")), nil
	}
	p, se := s.start("broken")
	if st := run(t, se); st.Failure() == nil {
		t.Fatalf("turn %+v", st.Turn)
	}
	for _, prompt := range []string{"one", "broken", "two"} {
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		p.say(prompt) // the stage checks the roles of every request
		se = p.open(engine.Options{NewPrompt: true})
		run(t, se)
	}
	if last := s.last().Messages; last[len(last)-1].Role != model.RoleUser || len(last) != 3 {
		t.Errorf("%s", render(last))
	}
}

// Rule 8: what a server keeps is a cache: every request holds the whole conversation, after a restart too.
func TestRule8EveryRequestIsWhole(t *testing.T) {
	s := newStage(t, reply(modelapi.StopEndTurn, text("one")), reply(modelapi.StopEndTurn, text("two")), reply(modelapi.StopEndTurn, text("three")))
	p, se := s.start("a")
	run(t, se)
	for _, prompt := range []string{"b", "c"} {
		p.store.Kill()
		p = s.process()
		p.say(prompt)
		se = p.open(engine.Options{})
		run(t, se)
	}
	got := render(s.last().Messages)
	for _, want := range []string{"a", "one", "b", "two", "c"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing from %s", want, got)
		}
	}
}

// Rule 9: usage is what the log says of sealed calls. Failed and lost ones count apart, and add nothing to the rest.
func TestRule9UsageComesFromTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.spec = func(sp *engine.Spec) { sp.Agent.Price = &model.Price{Input: 3, Output: 7} }
		s.answer = func(_ context.Context, _ int, r modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
			switch {
			case strings.HasSuffix(r.Act, ".a1"):
				return nil, &modelapi.Error{Class: modelapi.ClassRateLimit, Status: 429, RetryAfter: 3 * time.Second}
			case strings.HasSuffix(r.Act, ".a2"):
				return nil, &modelapi.Error{Class: modelapi.ClassDisconnect, Started: true, Usage: model.Usage{Input: 11, CacheWrite: 2}}
			case strings.HasSuffix(r.Act, ".a3"):
				return nil, &modelapi.Error{Class: modelapi.ClassDisconnect}
			}
			return reply(modelapi.StopEndTurn, text("ok")), nil
		}
		p, se := s.start("go")
		began := time.Now()
		st := run(t, se)
		u := st.Usage[0]
		if u.Calls != 1 || u.Usage.Input != 10 || u.Usage.Output != 5 || u.Cost != 3*10+7*5 {
			t.Errorf("sealed: %+v", u)
		}
		if u.Lost != 2 || u.Usage.LostInput <= 13 {
			t.Errorf("lost: %+v: want the 13 that were told, and an estimate", u)
		}
		if waited := time.Since(began); waited < 3*time.Second || waited > 10*time.Second {
			t.Errorf("waited %v", waited)
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		again, err := p.Load(t.Context(), "s")
		if err != nil || again.Usage[0] != u || again.Spent != st.Spent {
			t.Errorf("from the log: %v %+v", err, again.Usage)
		}
	})
}
