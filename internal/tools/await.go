package tools

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/session"
)

//go:embed await.md
var awaitDescription string

// await asks to be told of an end, a line or a time. Its effect is in the log alone, in one append with its result:
// running it twice is harmless.
type await struct{}

func (await) Spec() Spec {
	return Spec{
		Name: "Await", Description: strings.TrimSpace(awaitDescription), Effect: session.EffectExternal, Idempotent: true,
		Schema: `{"type":"object","properties":{` +
			`"bash_id":{"type":"string","description":"The background command, such as bash_1"},` +
			`"event":{"type":"string","enum":["end","line","timer"]},` +
			`"pattern":{"type":"string"},` +
			`"after_seconds":{"type":"number"},` +
			`"note":{"type":"string","description":"What you want to do then"},` +
			`"cancel":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}}}`,
	}
}

// TaskIDs is the task that is watched.
func (await) TaskIDs(c Call) ([]string, bool) { return parse(c).texts("bash_id"), false }

// Run notes the intent; whoever holds the session watches.
func (await) Run(_ context.Context, c Call, env Env) (Result, error) {
	in := parse(c)
	if _, ok := in.raw("cancel"); ok {
		return cancelAwaits(in, env), nil
	}
	a := in.await()
	if r := in.refusal(); r != nil {
		return *r, nil
	}
	if a.Task != "" {
		task := knownTask(env, a.Task)
		if task == nil {
			return unknownTask(env, a.Task), nil
		}
		a.TaskAct = task.Act
		if a.Event == session.AwaitLine {
			a.From = task.Position
		}
	}
	open := openAwaits(env)
	if i := slices.IndexFunc(open, func(o session.Await) bool { return sameAwait(o, a) }); i >= 0 {
		return success("%s waits for that already: you will be told.", open[i].ID), nil
	}
	if len(open) >= session.MaxAwaits {
		return failure("%d awaits are open, more are not allowed: cancel some", len(open)), nil
	}
	a.Act, a.ID = c.Act, newAwaitID(env)
	r := success("%s: you will be told %s. If there is nothing else to do, end your turn now.", a.ID, AwaitText(a))
	r.Events = []session.Body{&session.AwaitSet{Await: a}}
	return r, nil
}

// await reads what is to be awaited.
func (in *input) await() session.Await {
	a := session.Await{Task: strings.TrimSpace(in.text("bash_id")), Pattern: in.text("pattern"), Note: in.text("note")}
	a.AfterMS = 1000 * in.number("after_seconds", 0, 1, session.MaxAwaitMS/1000)
	a.Event = session.AwaitEvent(in.text("event"))
	switch {
	case a.Event != "":
	case a.Pattern != "":
		a.Event = session.AwaitLine
	case a.Task == "":
		a.Event = session.AwaitTimer
	default:
		a.Event = session.AwaitEnd
	}
	if err := CheckAwait(a); err != nil {
		in.problem("%v", err)
	}
	return a
}

// CheckAwait tells what is wrong with a wish to be told of something, whoever wishes it.
func CheckAwait(a session.Await) error {
	switch a.Event {
	case session.AwaitEnd, session.AwaitLine, session.AwaitTimer:
	default:
		return fmt.Errorf("nothing is called %q: end, line and timer can be awaited", clipText(string(a.Event), 40))
	}
	timer, line := a.Event == session.AwaitTimer, a.Event == session.AwaitLine
	switch {
	case timer != (a.Task == ""):
		return fmt.Errorf("%s needs %s task", a.Event, map[bool]string{true: "no", false: "a"}[timer])
	case line != (a.Pattern != ""):
		return fmt.Errorf("%s needs %s pattern", a.Event, map[bool]string{true: "a", false: "no"}[line])
	case timer && a.AfterMS <= 0:
		return fmt.Errorf("a timer needs a time after which it fires")
	case a.AfterMS < 0 || a.AfterMS > session.MaxAwaitMS:
		return fmt.Errorf("a time of %d ms is not between 0 and 30 days", a.AfterMS)
	case len(a.Note) > session.MaxAwaitNote:
		return fmt.Errorf("the note has %d bytes, at most %d are allowed", len(a.Note), session.MaxAwaitNote)
	case line:
		in := &input{}
		if in.pattern("pattern", a.Pattern, session.MaxAwaitPattern); len(in.problems) > 0 {
			return fmt.Errorf("%s", in.problems[0])
		}
	}
	return nil
}

// AwaitText says what is awaited, to follow "told".
func AwaitText(a session.Await) string {
	limit := ""
	if a.AfterMS > 0 {
		limit = fmt.Sprintf("after %s", seconds(a.AfterMS))
	}
	switch {
	case a.Event == session.AwaitTimer:
		return limit
	case limit != "":
		limit = ", or " + limit + " if that has not happened"
	}
	if a.Event == session.AwaitLine {
		return "when " + a.Task + " prints a line that matches /" + clipText(a.Pattern, 200) + "/" + limit
	}
	return "when " + a.Task + " ends" + limit
}

func sameAwait(a, b session.Await) bool {
	return a.Event == b.Event && a.Task == b.Task && a.TaskAct == b.TaskAct && a.Pattern == b.Pattern && a.AfterMS == b.AfterMS && a.Event != session.AwaitTimer
}

// openAwaits are the session's own.
func openAwaits(env Env) []session.Await {
	if env.State == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(env.State.Awaits), func(a session.Await) bool { return a.Session != "" })
}

func newAwaitID(env Env) string {
	switch {
	case env.AwaitID != nil:
		return env.AwaitID()
	case env.State != nil:
		return session.AwaitID(env.State.NextAwait + 1)
	}
	return session.AwaitID(1)
}

// cancelAwaits drops what is no longer wanted. An id that is not open makes the result an error, but the others are
// cancelled.
func cancelAwaits(in *input, env Env) Result {
	ids := in.texts("cancel")
	if len(ids) > session.MaxAwaits {
		in.problem("%d ids, at most %d are allowed at once", len(ids), session.MaxAwaits)
	}
	if r := in.refusal(); r != nil {
		return *r
	}
	open := openAwaits(env)
	var lines []string
	var r Result
	for _, id := range ids {
		if !slices.ContainsFunc(open, func(a session.Await) bool { return a.ID == id }) {
			lines, r.IsError = append(lines, fmt.Sprintf("%s is not open", clipText(id, 80))), true
			continue
		}
		r.Events = append(r.Events, &session.AwaitDropped{ID: id, Reason: session.DropModel})
		lines = append(lines, id+" is cancelled")
	}
	if len(ids) == 0 {
		lines, r.IsError = []string{"no id to cancel"}, true
	}
	r.Content = success("%s", strings.Join(lines, "\n")).Content
	return r
}

// readEnds drops the awaits of an end that the model has just read of.
func readEnds(env Env, task *session.Task) (out []session.Body) {
	for _, a := range openAwaits(env) {
		if a.Event == session.AwaitEnd && a.Task == task.ID && a.TaskAct == task.Act {
			out = append(out, &session.AwaitDropped{ID: a.ID, Reason: session.DropRead})
		}
	}
	return out
}
