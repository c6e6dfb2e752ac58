// Package inbox is everything in a home that waits for a person: approvals and questions, model calls that failed and
// limits that were reached, sessions that broke off and could go on, tasks that ended badly while nobody looked. It is
// listed, watched, and answered in place.
package inbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// The kinds of entries, beside pending.Approval and pending.Question.
const (
	Failed = "failed"     // a model call failed, and nobody tries again
	Limit  = "limit"      // of steps, money or the context window
	Broken = "broken_off" // its holder died in mid-work
	Parked = "parked"     // there is something to do, and nobody does it
	Task   = "task"       // a command ended badly, and nobody was told
)

// Entry is one thing that waits for a person.
type Entry struct {
	Kind    string
	ID      string // of all entries
	Session string
	Title   string // of the session; empty: it has none
	Name    string // what a person knows the session by: its title, else the first words of its prompt; empty: it has neither
	Cwd     string
	Text    string // what, on one line
	Hint    string // the command that helps
	Since   int64  // ms UTC
	Wait    *pending.Wait
}

// weekMS bounds how long ago a task may have ended to be told, in milliseconds.
const weekMS = 7 * 24 * 60 * 60 * 1000

// Entries lists what waits in the home, the oldest first. What cannot be read is told by note and left out.
func Entries(ctx context.Context, a *app.App, h *homes.Home, note func(format string, args ...any)) ([]Entry, error) {
	var out []Entry
	err := h.Each(ctx, store.Query{}, func(s view.Listing) error {
		if session.Lifecycle(s.Heads.Lifecycle).Over() {
			return nil
		}
		more, err := entriesOf(ctx, a, h, s)
		switch {
		case errors.Is(err, store.ErrNotFound): // it was deleted meanwhile
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			note("left out: %v", err)
		}
		out = append(out, more...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(x, y Entry) int { return cmp.Or(cmp.Compare(x.Since, y.Since), cmp.Compare(x.ID, y.ID)) })
	return out, nil
}

// entriesOf lists what waits in one session. Of one that is at rest nothing but its row is read.
func entriesOf(ctx context.Context, a *app.App, h *homes.Home, s view.Listing) (out []Entry, err error) {
	tasks, exact := engine.ListedTasks(s.Info)
	rests := s.Activity == string(session.Idle) || s.Activity == string(session.Asleep)
	if rests && exact && !slices.ContainsFunc(tasks, untold) {
		return nil, nil
	}
	st, err := h.State(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	e := Entry{Session: st.ID, Title: st.Title, Name: cmp.Or(st.Title, s.Heads.Labels[app.LabelPrompt]), Cwd: st.Cwd, Since: s.Updated}
	if out = waitsOf(e, st); st.Lifecycle == session.LifecyclePaused {
		return out, nil // a person wants the rest to rest
	}
	if len(out) == 0 {
		out = stuck(e, st, s)
	}
	return append(out, ended(ctx, a, h, e, st, s)...), nil
}

// OfSession lists the approvals and questions of one session.
func OfSession(ctx context.Context, h *homes.Home, id string) (out []Entry, err error) {
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	return waitsOf(Entry{Session: st.ID, Cwd: st.Cwd, Since: st.Updated}, st), nil
}

// waitsOf lists the approvals and questions of a state, the oldest first.
func waitsOf(e Entry, st *session.State) (out []Entry) {
	for _, kind := range []string{pending.Approval, pending.Question} {
		for _, w := range pending.Of(st, kind) {
			e := e
			e.Kind, e.ID, e.Text, e.Wait = kind, w.ID, pending.Line(w), &w
			if kind == pending.Question {
				e.Hint = "perdure answer " + w.ID
			} else {
				e.Since = w.Call.Approval.Asked
				e.Hint = "perdure approvals allow " + w.ID + "   (or deny)"
			}
			out = append(out, e)
		}
	}
	return out
}

// stuck says why a session that waits for no answer does not go on.
func stuck(e Entry, st *session.State, s view.Listing) []Entry {
	e.ID, e.Hint = st.ID, remedy(st)
	switch session.Activity(s.Activity) {
	case session.Failed:
		e.Kind, e.Text = Failed, "the model call failed"
		if f := st.Failure(); f != nil {
			e.Text, e.Since = "the model call failed: "+display.FirstLine(f.Message), f.Since
		}
	case session.Stopped:
		_, why := st.Halt()
		e.Kind, e.Text = Limit, why
	case session.Interrupted:
		e.Kind, e.Text = Broken, "it broke off and can go on"
	case session.Parked:
		e.Kind, e.Text = Parked, "it can go on, and nobody runs it"
		if st.Turn == nil {
			e.Text = display.Count(max(s.Pending, int64(len(st.Queue))), "message") + " not taken yet"
		}
	case session.Idle, session.Running, session.Waiting, session.Asleep:
		return nil
	}
	return []Entry{e}
}

// remedy is the command that has a session go on: as it is, or with what it lacks.
func remedy(st *session.State) string {
	goOn := "perdure -p --resume " + st.ID
	if st.Labels[app.LabelSeat] == app.SeatScreen { // its person goes back to where they sat
		goOn = "perdure -r " + st.ID
	}
	switch stop, why := st.Halt(); {
	case stop == session.TurnMaxBudget:
		return goOn + " --max-budget-usd X"
	case stop == session.TurnContextLimit && strings.Contains(why, session.CompactionOff):
		return "perdure compact " + st.ID
	case stop == session.TurnContextLimit:
		return goOn + " --model PROVIDER/MODEL"
	}
	return goOn // also at a limit of steps: for as many again
}

// untold reports a task that may have ended badly without anybody being told.
func untold(t session.Task) bool {
	return t.Session == "" && !t.Told && (t.Status == command.Running || badEnd(string(t.Status), t.ExitCode, t.By))
}

func badEnd(status string, code *int, by string) bool {
	switch command.Status(status) {
	case command.Exited:
		return code != nil && *code != 0
	case command.Killed:
		return by == ""
	case command.Lost:
		return true
	}
	return false
}

// ended lists the tasks of a session that nobody holds which ended badly within a week, and of which its model was not
// told: with a holder it will be.
func ended(ctx context.Context, a *app.App, h *homes.Home, e Entry, st *session.State, s view.Listing) (out []Entry) {
	if s.Holder != nil && s.Holder.Alive != store.Dead || !slices.ContainsFunc(st.Tasks, untold) {
		return nil
	}
	tasks, err := h.Tasks().List(ctx, st.ID)
	if err != nil {
		return nil
	}
	for _, t := range tasks {
		i := slices.IndexFunc(st.Tasks, func(o session.Task) bool { return o.ID == t.ID })
		if i < 0 || !untold(st.Tasks[i]) || !badEnd(t.Status, t.ExitCode, t.By) || a.Now().UnixMilli()-int64(t.Ended) > weekMS {
			continue
		}
		o := e
		o.Kind, o.ID, o.Since = Task, st.ID+":"+t.ID, cmp.Or(int64(t.Ended), e.Since)
		o.Text = fmt.Sprintf("%s %s: %s", display.Called(t), badly(t), display.FirstLine(t.Command))
		o.Hint = "perdure task output " + t.ID + " --session " + st.ID
		out = append(out, o)
	}
	return out
}

func badly(t view.Task) string {
	switch {
	case t.ExitCode != nil:
		return fmt.Sprintf("exited with %d", *t.ExitCode)
	case t.Signal != "":
		return "was killed by " + t.Signal
	}
	return "was lost"
}
