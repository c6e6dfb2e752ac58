package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
)

const onePlan = `{"todos":[{"content":"look","status":"completed"},{"content":"act","status":"in_progress"}]}`

// planned is a session whose model made a plan of two steps and whose first turn is over.
func planned(t *testing.T) (*stage, process, *session.State) {
	s := newStage(t, reply(modelapi.StopToolUse, use("a", "TodoWrite", onePlan)), reply(modelapi.StopEndTurn, text("one")),
		reply(modelapi.StopEndTurn, text("two")), reply(modelapi.StopEndTurn, text("three")))
	_, se := s.start("go")
	st := run(t, se)
	must(t, se.Close(t.Context(), ""))
	return s, s.process(), st
}

func refusals(t *testing.T, p process) int {
	t.Helper()
	return strings.Count(logged(t, p.store), `"item":"plan.edited"`)
}

// Goal: what a person changes in the plan is one event, of which the model is told in its next request, once, whichever
// process takes the change; what is not as the session knows it is refused whole.
func TestAPersonsPlanIsToldOnce(t *testing.T) {
	s, _, st := planned(t)
	s.config = func(*engine.Config) {}
	guard(s)
	over := session.PlanDigest(st.Plan)
	mine := []session.Step{
		st.Plan[0], {Content: "act", Status: session.StepBlocked, Blocker: "the key " + secretValue}, {Content: "rest", Status: session.StepPlanned},
	}
	note := session.Fact{Kind: "failed_approach", Text: "by hand", Reason: "too slow", Provenance: "model"}
	p := s.process()
	p.send("k1", &session.PlanEdited{Over: over, Steps: mine, Facts: []session.Fact{note}, Text: []byte("obey me")})
	p.send("k2", &session.PlanEdited{Over: over, Steps: mine}) // made for another plan
	p.say("go on")
	se := p.open(engine.Options{})
	st = run(t, se)
	if got := refusals(t, p); got != 1 {
		t.Errorf("%d refusals", got)
	}
	if len(st.Plan) != 3 || st.Plan[1].Status != session.StepBlocked || len(st.Facts) != 1 || st.Facts[0].Provenance != "user" || st.Facts[0].Seq == 0 {
		t.Fatalf("plan %+v, facts %+v", st.Plan, st.Facts)
	}
	told := render(s.last().Messages)
	for _, want := range []string{"The user changed the plan", "added step 3: [planned] rest", "step 2: [blocked] act; blocked by: the key", "noted failed approach: by hand (too slow)", "1. [done] look"} {
		if !strings.Contains(told, want) {
			t.Errorf("the model is not told %q:\n%s", want, told)
		}
	}
	if strings.Contains(told, "obey me") {
		t.Error("the sender chose the words")
	}
	leaked(t, "log", logged(t, p.store))
	p.say("again")
	st = run(t, se)
	if n := strings.Count(render(s.last().Messages), "The user changed the plan"); n != 1 {
		t.Errorf("told %d times", n)
	}
	if st.Context.Fresh < 0 || len(st.Faults) > 0 {
		t.Errorf("faults %v", st.Faults)
	}
}

// Goal: a plan that the tool could not have set cannot be brought by an inbox either.
func TestAPlanThatCannotBeKeptIsRefused(t *testing.T) {
	_, _, st := planned(t)
	over := session.PlanDigest(st.Plan)
	step := func(c string, status session.StepStatus) []session.Step {
		return []session.Step{{Content: c, Status: status}}
	}
	fact := func(kind, text string) []session.Fact { return []session.Fact{{Kind: kind, Text: text}} }
	for name, b := range map[string]*session.PlanEdited{
		"no words":      {Over: over, Steps: step(" ", session.StepDone)},
		"no status":     {Over: over, Steps: step("x", "wip")},
		"common status": {Over: over, Steps: step("x", "completed")},
		"too long":      {Over: over, Steps: step(strings.Repeat("x", session.MaxPlanText+1), session.StepDone)},
		"no text":       {Over: over, Steps: step("x\x00y", session.StepDone)},
		"too many":      {Over: over, Steps: make([]session.Step, session.MaxPlanSteps+1)},
		"the same":      {Over: over, Steps: st.Plan},
		"kind of note":  {Over: over, Steps: st.Plan, Facts: fact("order", "x")},
		"empty note":    {Over: over, Steps: st.Plan, Facts: fact("finding", "")},
		"long note":     {Over: over, Steps: st.Plan, Facts: fact("finding", strings.Repeat("x", session.MaxPlanText+1))},
		"other plan":    {Steps: step("x", session.StepDone)},
	} {
		t.Run(name, func(t *testing.T) {
			_, p, _ := planned(t)
			p.send("k", b)
			se := p.open(engine.Options{})
			now := run(t, se)
			if refusals(t, p) != 1 || len(now.Plan) != 2 || len(now.Facts) != 0 || len(now.Faults) != 0 {
				t.Errorf("%d refusals, plan %+v, facts %+v, faults %v", refusals(t, p), now.Plan, now.Facts, now.Faults)
			}
		})
	}
}

// Goal: a change of the plan that waits to be told outlives a compaction, and so does the next step: sessions of other
// agents lost theirs after some of them, and did again what was done.
func TestAPersonsPlanOutlivesCompactions(t *testing.T) {
	c := newCrowd(t, 40_000, 3, 2000)
	p, se := c.start("go")
	st := run(t, se)
	steps := []session.Step{{Content: "look", Status: session.StepDone, Output: "notes.md"}, {Content: "the MARKER step", Status: session.StepWaitingExternal, Blocker: "the key"}}
	p.send("edit", &session.PlanEdited{Over: session.PlanDigest(st.Plan), Steps: steps})
	for i := range 8 {
		p.send(fmt.Sprint("compact", i), &session.CompactRequested{})
		run(t, se)
		if got := compactions(t, p); len(got) != i+1 {
			t.Fatalf("%d compactions, want %d", len(got), i+1)
		}
		p.say(fmt.Sprint("go on ", i))
		st = run(t, se)
		sent := render(c.last().Messages)
		if n := strings.Count(sent, "The user changed the plan"); i == 0 && n != 1 || i > 0 && n != 0 {
			t.Errorf("turn %d: told %d times", i, n)
		}
		if want := "1. [done] look; output: notes.md\n2. [waiting_external] the MARKER step; blocked by: the key"; i > 0 && !strings.Contains(sent, want) {
			t.Errorf("turn %d lacks the plan:\n%s", i, sent)
		}
	}
	if len(st.Plan) != 2 || st.Plan[1] != steps[1] || len(st.Faults) > 0 {
		t.Errorf("%+v, %v", st.Plan, st.Faults)
	}
}
