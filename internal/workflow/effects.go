package workflow

import (
	"cmp"
	"fmt"

	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
)

// Effect is something that a session did, or is doing, outside of itself.
type Effect struct {
	ID      string `json:"id"`   // of the act or the task
	Tool    string `json:"tool"` // empty for a task that a person started
	About   string `json:"about,omitempty"`
	Class   string `json:"class"`  // idempotent_edit, command, task, external
	Status  string `json:"status"` // an outcome (ok, error, cancelled, unknown), executing, or a task's status
	Reason  string `json:"reason,omitempty"`
	Safe    *bool  `json:"safe_to_repeat"` // null: it depends on what it does
	Repeat  string `json:"repeat"`         // what that means, in words
	Restart string `json:"after_restart"`  // what becomes of it when the agent or the machine restarts
}

// The classes of effects.
const (
	ClassEdit     = "idempotent_edit"
	ClassCommand  = "command"
	ClassTask     = "task"
	ClassExternal = "external"
)

// Effects lists what a session did outside of itself, oldest first: the tool calls that its state remembers, those that
// are under way, and its tasks. What only read, or never began, is not there; a command that by its words only reads,
// such as ls, neither.
func Effects(st *session.State) []Effect {
	var out []Effect
	add := func(a session.Act) {
		began := a.State == session.ActExecuting || a.Outcome != "" && a.Outcome != session.OutcomeDenied
		if a.Effect.Changes() && began && !onlyReads(a) {
			out = append(out, effectOf(a))
		}
	}
	for _, a := range st.Settled {
		add(a)
	}
	if st.Turn != nil {
		for i := range st.Turn.Calls {
			add(st.Turn.Calls[i].Act())
		}
	}
	for i := range st.Tasks {
		out = append(out, taskEffect(&st.Tasks[i]))
	}
	return out
}

// wholeAbout is below what a settled act's command is cut to, in bytes: one that is shorter is all of it.
const wholeAbout = 150

// onlyReads reports a shell command that is known to only read. One that failed may not be what it seems.
func onlyReads(a session.Act) bool {
	return a.Tool == "Bash" && a.Effect == session.EffectProcess && a.Outcome != session.OutcomeError && len(a.About) < wholeAbout && permission.OnlyReads(a.About)
}

func effectOf(a session.Act) Effect {
	e := Effect{ID: a.ID, Tool: a.Tool, About: a.About, Status: string(cmp.Or(a.Outcome, session.Outcome(a.State))), Reason: a.Reason}
	yes, no := true, false
	switch a.Effect {
	case session.EffectEdit:
		e.Class, e.Safe, e.Repeat = ClassEdit, &yes, "writing the same content again changes nothing"
		e.Restart = "the file's digest decides: done, not begun, or unknown"
	case session.EffectProcess:
		e.Class, e.Repeat = ClassCommand, "it depends on the command: look at what it did first"
		e.Restart = "it goes on under its shim, and its exit code is collected; void if it never began, unknown if it was lost"
	default:
		e.Class, e.Safe, e.Repeat = ClassExternal, &no, "it happened outside, and may happen twice"
		e.Restart = "unknown: the model is told so, and it is not repeated"
	}
	switch a.Outcome {
	case session.OutcomeUnknown:
		e.Restart = "whether it happened is unknown: nothing repeats it"
	case session.OutcomeCancelled:
		e.Restart = "it was cancelled, perhaps half done: nothing repeats it"
	case session.OutcomeOK, session.OutcomeError:
		e.Restart = "its outcome is in the log: nothing repeats it"
	case session.OutcomeDenied:
	}
	return e
}

func taskEffect(t *session.Task) Effect {
	e := Effect{
		ID: t.ID, About: cmp.Or(t.Command, t.Name), Class: ClassTask, Status: string(t.Status), Reason: t.Reason,
		Repeat: "it depends on the command: look at what it did first",
	}
	switch {
	case t.Session != "":
		e.Restart = "it is of session " + t.Session + ": this one leaves it alone"
	case t.Live() && t.Covered():
		e.Restart = "it goes on under its shim; after a reboot it is started again, as a person granted"
	case t.Live():
		e.Restart = "it goes on under its shim; a reboot ends it, and nothing starts it again"
	case t.Due:
		e.Restart = "a reboot took it, and it is due to be started again, as a person granted"
	case t.NotRestarted != "":
		e.Restart = "a reboot took it, and it was not started again: " + t.NotRestarted
	case t.ExitCode != nil:
		e.Status = fmt.Sprintf("%s %d", e.Status, *t.ExitCode)
		e.Restart = "its end is in the log: nothing starts it again"
	default:
		e.Restart = "it has ended: nothing starts it again"
	}
	return e
}
