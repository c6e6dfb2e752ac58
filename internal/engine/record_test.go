package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// A conversation that another agent holds is kept in the form of one of this engine's: its turns, steps, calls and what
// they took. What comes out of order is refused, and leaves nothing.
func TestAnotherAgentsConversationIsKept(t *testing.T) {
	s := newStage(t)
	s.spec = func(sp *engine.Spec) { sp.Agent.Price = &model.Price{Input: 3, Output: 7} }
	p, se := s.start("")
	say := func(words string) error {
		_, err := se.RecordUser(t.Context(), model.TextPart(words))
		return err
	}
	answer := func(r *modelapi.Response) error {
		_, err := se.RecordReply(t.Context(), "stage", r)
		return err
	}
	result := func(use string, isError bool) error {
		_, err := se.RecordResult(t.Context(), use, isError, model.TextPart("result of "+use))
		return err
	}
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, session.ErrUnfit) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("a reply to nothing", answer(reply(modelapi.StopEndTurn, text("x"))))
	refused("a result of nothing", result("a", false))
	must(t, say("first"))
	head := se.Head()
	refused("two prompts", say("again"))
	refused("a result before any call", result("a", false))
	if se.Head() != head {
		t.Error("what was refused is in the log")
	}
	must(t, answer(reply(modelapi.StopToolUse, text("I look"), use("a", "Look", `{"at":"x"}`), use("b", "Look", `{}`))))
	refused("a reply before the results", answer(reply(modelapi.StopEndTurn, text("x"))))
	refused("a prompt before the results", say("again"))
	refused("a result of another call", result("c", false))
	must(t, result("b", true))
	refused("the same result again", result("b", false))
	refused("a reply before the other result", answer(reply(modelapi.StopEndTurn, text("x"))))
	must(t, result("a", false))
	refused("a prompt before the reply to the results", say("again"))
	free := reply(modelapi.StopEndTurn, text("done"))
	free.Unmetered = true
	must(t, answer(free), say("second"), answer(reply(modelapi.StopEndTurn, text("well"))))
	st := se.State()
	if st.Turns != 2 || st.LastTurn.Stop != session.TurnEndTurn || st.LastTurn.Steps != 2 || st.Turn.Step != 1 || len(st.Faults) > 0 {
		t.Errorf("turns %d, last %+v, open %+v, faults %q", st.Turns, st.LastTurn, st.Turn, st.Faults)
	}
	if u := st.Usage[0]; u.Calls != 3 || u.Cost != 2*(3*10+7*5) || u.Unpriced != 1 || u.Lost != 0 {
		t.Errorf("usage %+v", u)
	}
	outcomes := map[string]session.Outcome{}
	for _, act := range st.Settled {
		outcomes[act.ID] = act.Outcome
	}
	if outcomes["t1.s1.b2.a1"] != session.OutcomeOK || outcomes["t1.s1.b3.a1"] != session.OutcomeError {
		t.Errorf("outcomes %v", outcomes)
	}
	if got := p.whole(); strings.Count(got, "result of ") != 2 || strings.Index(got, "first") > strings.Index(got, "I look") || !strings.Contains(got, "b error=true") {
		t.Errorf("the conversation:\n%s", got)
	}
	for _, kind := range []store.Kind{session.KindModelRequested, session.KindModelResponded, session.KindToolStarted} {
		if n, want := happened(t, p, kind), map[store.Kind]int{session.KindModelRequested: 3, session.KindModelResponded: 3, session.KindToolStarted: 2}[kind]; n != want {
			t.Errorf("%d of %s, want %d", n, kind, want)
		}
	}
	must(t, se.Close(t.Context(), ""))
	again, err := p.Load(t.Context(), "s")
	if err != nil || len(again.Faults) > 0 {
		t.Errorf("from the log: %v, %+v", err, again)
	}
	whole, err := p.Whole(t.Context(), again)
	if err != nil || render(whole.Messages()) != render(mustTranscript(t, p, again).Messages()) {
		t.Errorf("the whole conversation differs: %v", err)
	}
}

func mustTranscript(t *testing.T, p process, st *session.State) *session.Transcript {
	t.Helper()
	tr, err := p.Transcript(t.Context(), st)
	must(t, err)
	return tr
}
