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

// Bounds of a plan.
const (
	maxTodos    = 200
	maxTodoText = 2000 // bytes
)

// todoWrite replaces the plan.
type todoWrite struct{}

func (todoWrite) Spec() Spec {
	return Spec{
		Name: "TodoWrite", Description: strings.TrimSpace(todoWriteDescription), Effect: session.EffectRead,
		Schema: `{"type":"object","properties":{"todos":{"type":"array","description":"The whole plan, in order","items":{` +
			`"type":"object","properties":{` +
			`"content":{"type":"string","description":"What is to be done"},` +
			`"status":{"type":"string","enum":["pending","in_progress","completed"]},` +
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
	count := map[session.StepStatus]int{}
	for _, s := range steps {
		count[s.Status]++
	}
	text := fmt.Sprintf("The plan has %d step%s: %d completed, %d in progress, %d pending.", len(steps), plural(len(steps)),
		count[session.StepDone], count[session.StepExecuting], count[session.StepPlanned])
	if len(steps) == 0 {
		text = "The plan is empty."
	}
	r := success("%s", text)
	r.Events = []session.Body{&session.PlanSet{Steps: steps}}
	return r, nil
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
	if len(items) > maxTodos {
		in.problem("the plan has %d steps, at most %d are allowed", len(items), maxTodos)
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
		s.Status = stepStatus(one.choice("status", "pending", "in_progress", "completed", "planned", "executing", "done"))
		if n := max(len(s.Content), len(s.ActiveForm), len(s.Blocker), len(s.Reason), len(s.Output)); n > maxTodoText {
			one.problem("a text has %d bytes, at most %d are allowed", n, maxTodoText)
		}
		for _, p := range one.problems {
			in.problem("todo %d: %s", i+1, p)
		}
		steps = append(steps, s)
	}
	return steps
}

func stepStatus(word string) session.StepStatus {
	switch word {
	case "in_progress", "executing":
		return session.StepExecuting
	case "completed", "done":
		return session.StepDone
	}
	return session.StepPlanned
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
