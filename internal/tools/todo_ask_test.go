package tools

import (
	"reflect"
	"testing"

	"github.com/perdure/perdure/internal/session"
)

// Goal: todos become the plan, in the words of the plan, and faults are named by their place.
func TestTodoWrite(t *testing.T) {
	w := newWorld(t)
	w.golden(w.call("TodoWrite", `{"todos":[{"content":"a","status":"completed","activeForm":"Doing a"},`+
		`{"content":" b ","status":"in_progress"},{"content":"c","status":"pending"},{"content":"d"}]}`), false,
		"The plan has 4 steps: 1 completed, 1 in progress, 2 pending.")
	want := []session.Step{
		{Content: "a", ActiveForm: "Doing a", Status: session.StepDone},
		{Content: "b", Status: session.StepExecuting},
		{Content: "c", Status: session.StepPlanned},
		{Content: "d", Status: session.StepPlanned},
	}
	if !reflect.DeepEqual(w.State.Plan, want) {
		t.Errorf("plan: %+v", w.State.Plan)
	}
	w.golden(w.call("TodoWrite", `{"todos":"[{\"content\":\"x\",\"status\":\"done\"}]"}`), false,
		"The plan has 1 step: 1 completed, 0 in progress, 0 pending.")
	w.golden(w.call("TodoWrite", `{"todos":[{"content":"x","status":"later"},{"status":"pending"}]}`), true,
		`TodoWrite: todo 1: "status" must be one of pending, in_progress, completed, awaiting_approval, waiting_external, blocked, failed, got "later"; `+
			`todo 2: "content" is missing; it must be a string`)
	w.golden(w.call("TodoWrite", `{"todos":[{"content":"x","status":"pending","blocker":"the key","reason":"no access","output":"half a draft"}]}`), false,
		"The plan has 1 step: 0 completed, 0 in progress, 1 pending.")
	kept := session.Step{Content: "x", Status: session.StepPlanned, Blocker: "the key", Reason: "no access", Output: "half a draft"}
	if !reflect.DeepEqual(w.State.Plan, []session.Step{kept}) {
		t.Errorf("plan: %+v", w.State.Plan)
	}
	w.golden(w.call("TodoWrite", `{"todos":[{"content":"x","status":"pending","note":"y","due":1}]}`), true,
		`TodoWrite: todo 1: there is no "due"; a step has content, status, activeForm, blocker, reason and output; `+
			`todo 1: there is no "note"; a step has content, status, activeForm, blocker, reason and output`)
	w.golden(w.call("TodoWrite", `{"todos":[]}`), false, "The plan is empty.")
	if len(w.State.Plan) != 0 {
		t.Errorf("plan: %+v", w.State.Plan)
	}
}

// Goal: every state of a plan's step can be said, by its own word and by the common ones; all fields are kept.
func TestTodoWriteTakesEveryStatus(t *testing.T) {
	w := newWorld(t)
	for word, want := range map[string]session.StepStatus{
		"planned": session.StepPlanned, "pending": session.StepPlanned, "todo": session.StepPlanned,
		"executing": session.StepExecuting, "in_progress": session.StepExecuting, "in-progress": session.StepExecuting,
		"done": session.StepDone, "completed": session.StepDone, "Done": session.StepDone,
		"awaiting_approval": session.StepAwaitingApproval, "waiting_external": session.StepWaitingExternal,
		"blocked": session.StepBlocked, "failed": session.StepFailed,
	} {
		r := w.call("TodoWrite", `{"todos":[{"content":"x","status":"`+word+`","activeForm":"f","blocker":"b","reason":"r","output":"o"}]}`)
		all := session.Step{Content: "x", ActiveForm: "f", Status: want, Blocker: "b", Reason: "r", Output: "o"}
		if r.IsError || !reflect.DeepEqual(w.State.Plan, []session.Step{all}) {
			t.Errorf("%s: %+v, %+v", word, r, w.State.Plan)
		}
	}
	w.golden(w.call("TodoWrite", `{"todos":[{"content":"x","status":"blocked"},{"content":"y","status":"failed"},{"content":"z","status":"done"}]}`), false,
		"The plan has 3 steps: 1 completed, 0 in progress, 0 pending, 1 blocked, 1 failed.")
}

// Goal: questions are read with their options in either form.
func TestAskUser(t *testing.T) {
	ask := func(input string) (*session.Question, *Result) {
		return askUser{}.Question(Call{Name: "AskUser", Input: []byte(input)})
	}
	q, r := ask(`{"question":"Which?","options":["a",{"label":"b","description":"x"}]}`)
	if r != nil || !reflect.DeepEqual(*q, session.Question{Question: "Which?", Options: []string{"a", "b"}}) {
		t.Errorf("%+v, %+v", q, r)
	}
	for _, bad := range []string{`{"question":" "}`, `{"question":"x","options":[1]}`, `{"question":"x","options":[""]}`, `{"question":"x","options":5}`} {
		if _, r := ask(bad); r == nil || !r.IsError {
			t.Errorf("accepted: %s", bad)
		}
	}
}
