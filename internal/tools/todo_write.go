package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/session"
)

//go:embed todo_write.md
var todoWriteDescription string

// todoWrite replaces the plan.
type todoWrite struct{}

func (todoWrite) Spec() Spec {
	return Spec{
		Name: "TodoWrite", Description: strings.TrimSpace(todoWriteDescription), Effect: session.EffectRead,
		Schema: `{"type":"object","properties":{"todos":{"type":"array","description":"The whole plan, in order","items":{` +
			`"type":"object","properties":{` +
			`"content":{"type":"string","description":"What is to be done"},` +
			`"status":{"type":"string","enum":["pending","in_progress","completed","awaiting_approval","waiting_external","blocked","failed"]},` +
			`"activeForm":{"type":"string","description":"The same while it is being done, such as \"Running the tests\""},` +
			`"blocker":{"type":"string","description":"What the step waits for, if something keeps it"},` +
			`"reason":{"type":"string","description":"Why it stands as it does"},` +
			`"output":{"type":"string","description":"What came of it, such as a file or a finding"}},` +
			`"required":["content","status"]}}},` +
			`"required":["todos"]}`,
	}
}

// Run gives the new plan as an event.
func (todoWrite) Run(_ context.Context, c Call, _ Env) (Result, error) {
	in := parse(c)
	steps := in.steps()
	if r := in.refusal(); r != nil {
		return *r, nil
	}
	r := success("%s", planCounts(steps))
	r.Events = []session.Body{&session.PlanSet{Steps: steps}}
	return r, nil
}

// planCounts says how many steps a plan has in which state: always of the three common ones, of the others where there are.
func planCounts(steps []session.Step) string {
	if len(steps) == 0 {
		return "The plan is empty."
	}
	count := map[session.StepStatus]int{}
	for _, s := range steps {
		count[s.Status]++
	}
	text := fmt.Sprintf("The plan has %d step%s: %d completed, %d in progress, %d pending", len(steps), plural(len(steps)),
		count[session.StepDone], count[session.StepExecuting], count[session.StepPlanned])
	for _, s := range []session.StepStatus{session.StepAwaitingApproval, session.StepWaitingExternal, session.StepBlocked, session.StepFailed} {
		if count[s] > 0 {
			text += fmt.Sprintf(", %d %s", count[s], strings.ReplaceAll(string(s), "_", " "))
		}
	}
	return text + "."
}

// steps reads the list of todos. A list that a model wrote as a string of JSON is read too.
func (in *input) steps() []session.Step {
	v, ok := in.raw("todos")
	if !ok {
		in.problem(`"todos" is missing; it must be a list of {"content", "status", "activeForm"}`)
		return nil
	}
	var quoted string
	if json.Unmarshal(v, &quoted) == nil {
		v = json.RawMessage(quoted)
	}
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(v, &items); err != nil {
		in.problem(`"todos" must be a list of {"content", "status", "activeForm"}, got %s`, kindOf(v))
		return nil
	}
	if len(items) > session.MaxPlanSteps {
		in.problem("the plan has %d steps, at most %d are allowed", len(items), session.MaxPlanSteps)
		return nil
	}
	steps := make([]session.Step, 0, len(items))
	for i, item := range items {
		one := &input{fields: item}
		s := session.Step{Content: strings.TrimSpace(one.nonEmpty("content")), ActiveForm: one.text("activeForm")}
		s.Blocker, s.Reason, s.Output = one.text("blocker"), one.text("reason"), one.text("output")
		for _, name := range slices.Sorted(maps.Keys(item)) {
			switch name {
			case "content", "status", "activeForm", "blocker", "reason", "output":
			default:
				one.problem("there is no %q; a step has content, status, activeForm, blocker, reason and output", clipText(name, 40))
			}
		}
		s.Status = one.stepStatus()
		if n := max(len(s.Content), len(s.ActiveForm), len(s.Blocker), len(s.Reason), len(s.Output)); n > session.MaxPlanText {
			one.problem("a text has %d bytes, at most %d are allowed", n, session.MaxPlanText)
		}
		for _, p := range one.problems {
			in.problem("todo %d: %s", i+1, p)
		}
		steps = append(steps, s)
	}
	return steps
}

// stepStatus reads where a step stands; absent is pending.
func (in *input) stepStatus() session.StepStatus {
	word := in.text("status")
	if word == "" {
		return session.StepPlanned
	}
	status, ok := session.ParseStepStatus(word)
	if !ok {
		in.problem(`"status" must be one of pending, in_progress, completed, awaiting_approval, waiting_external, blocked, failed, got %q`, clipText(word, 40))
	}
	return status
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
