// Package pending is what waits for a human: approvals and questions, how they are found by what a person types, and
// how a call is shown to whoever has to judge it.
package pending

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Wait is something that one session needs from a human.
type Wait struct {
	ID      string // session id:act id
	Session string
	Cwd     string
	Root    string // directory that the session was opened in: its project
	Title   string // of the session; empty: it has none
	Call    *session.Call
	Again   bool // it is decided again when the session goes on, and may need nothing any more
}

// Waiting is the call as it is answered.
func (w Wait) Waiting() view.Waiting {
	return view.Waiting{Session: w.Session, Act: w.Call.ID, Bound: w.Call.Approval.Bound}
}

// The kinds of waits.
const (
	Approval = "approval"
	Question = "question"
)

// Of lists what a state waits for, of one kind.
func Of(st *session.State, kind string) []Wait {
	var out []Wait
	for _, w := range session.Waits(st) {
		if w.Kind == kind {
			out = append(out, waitOf(st, w.Call))
		}
	}
	if kind == Approval {
		for _, c := range session.DecidedAgain(st) {
			w := waitOf(st, c)
			w.Again = true
			out = append(out, w)
		}
	}
	return out
}

func waitOf(st *session.State, c *session.Call) Wait {
	return Wait{ID: st.ID + ":" + c.ID, Session: st.ID, Cwd: st.Cwd, Root: st.Config.Root, Title: st.Title, Call: c}
}

// mayWait reports whether something may wait in a session that does this: beside a command that runs, or where one of
// several calls was answered and nobody has gone on since.
func mayWait(does session.Activity) bool {
	switch does {
	case session.Waiting, session.Running, session.Parked, session.Interrupted:
		return true
	case session.Idle, session.Stopped, session.Failed, session.Asleep:
	}
	return false
}

// All lists what the sessions of the home wait for.
func All(ctx context.Context, a *app.App, h *homes.Home, kind string) ([]Wait, error) {
	var out []Wait
	err := h.Each(ctx, store.Query{}, func(s view.Listing) error {
		if !mayWait(session.Activity(s.Activity)) {
			return nil
		}
		st, err := h.State(ctx, s.ID)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			a.Note("left out: %v", err)
			return nil
		}
		out = append(out, Of(st, kind)...)
		return nil
	})
	return out, err
}

// Find finds one wait by SESSION:ACT, by an act that waits in one session alone, or by a session in which exactly
// one waits.
func Find(ctx context.Context, a *app.App, h *homes.Home, ref, kind string) (Wait, error) {
	name, act := ref, ""
	if i := strings.LastIndexByte(ref, ':'); i >= 0 && IsAct(ref[i+1:]) {
		name, act = ref[:i], ref[i+1:]
	}
	id, err := a.Resolve(ctx, h, name)
	var missing *app.ExitError
	if act == "" && IsAct(ref) && errors.As(err, &missing) && missing.Code == app.ExitMissing {
		return byAct(ctx, a, h, ref, kind)
	}
	if err != nil {
		return Wait{}, err
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return Wait{}, err
	}
	waits := Of(st, kind)
	if act != "" {
		waits = slices.DeleteFunc(waits, func(w Wait) bool { return !w.called(act) })
	}
	switch len(waits) {
	case 0:
		return Wait{}, None(st, ref, kind)
	case 1:
		return waits[0], nil
	}
	return Wait{}, unclearWait(fmt.Sprintf("session %s waits for more than one %s", id, kind), waits)
}

// called reports whether an act's id means the wait. One with an attempt means that attempt alone: a later one may be about
// other files, and nobody has seen it yet who names the one before.
func (w Wait) called(act string) bool { return w.Call.ID == act || session.BaseOf(w.Call.ID) == act }

// byAct finds the wait that has an act's id, whatever its session.
func byAct(ctx context.Context, a *app.App, h *homes.Home, act, kind string) (Wait, error) {
	all, err := All(ctx, a, h, kind)
	if err != nil {
		return Wait{}, err
	}
	found := slices.DeleteFunc(all, func(w Wait) bool { return !w.called(act) })
	switch len(found) {
	case 0:
		return Wait{}, &app.ExitError{Code: app.ExitMissing, Text: fmt.Sprintf("no %s waits as %q", kind, act), Hint: "perdure approvals list shows what waits"}
	case 1:
		return found[0], nil
	}
	return Wait{}, unclearWait(fmt.Sprintf("more than one %s waits as %q", kind, act), found)
}

// unclearWait names the waits of which one was meant.
func unclearWait(text string, waits []Wait) error {
	e := &app.ExitError{Code: app.ExitUsage, Text: text}
	if waits[0].Call.Question == nil && !slices.ContainsFunc(waits, func(w Wait) bool { return w.Session != waits[0].Session }) {
		e.Hint = "--all " + waits[0].Session + " means all of them"
	}
	for _, w := range waits {
		about := Line(w)
		if q := w.Call.Question; q != nil {
			about = strconv.Quote(display.Line(q.Question, display.MaxCell))
		}
		e.More = append(e.More, w.ID+"  "+about)
	}
	return e
}

// None tells that nothing of a kind waits in a session under a name, and what does.
func None(st *session.State, ref, kind string) error {
	e := &app.ExitError{Code: app.ExitMissing, Text: fmt.Sprintf("no %s waits as %q", kind, ref)}
	same, other := Of(st, kind), Of(st, map[string]string{Approval: Question, Question: Approval}[kind])
	switch {
	case len(same) > 0:
		e.Hint = "nearest: " + strings.Join(display.Nearest(ref, waitIDs(same)), ", ")
	case len(other) > 0 && kind == Approval:
		e.Hint = "a question waits there: perdure answer " + st.ID
	case len(other) > 0:
		e.Hint = "an approval waits there: perdure approvals list " + st.ID
	default:
		e.Hint = "perdure approvals list shows what waits"
	}
	return e
}

func waitIDs(waits []Wait) []string {
	out := make([]string, len(waits))
	for i, w := range waits {
		out[i] = w.ID
	}
	return out
}

// IsAct reports whether s has the form of an act's id, t1.s2.b3 with or without an attempt .a4.
func IsAct(s string) bool {
	letters := "tsba"
	for i, part := range strings.Split(s, ".") {
		if i >= len(letters) || len(part) < 2 || part[0] != letters[i] || strings.Trim(part[1:], "0123456789") != "" {
			return false
		}
	}
	return strings.Count(s, ".") >= 2
}

// Option is the text of the option that a number stands for; any other text stands for itself. What becomes of the files
// of a lost act is answered by an option alone.
func Option(c *session.Call, text string) (string, error) {
	q := c.Question
	if q == nil || len(q.Options) == 0 || slices.Contains(q.Options, text) {
		return text, nil
	}
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
		return numbered(q.Options, n)
	}
	if c.Lost() {
		return "", &app.ExitError{Code: app.ExitUsage, Text: fmt.Sprintf("want a number from 1 to %d: this is about files, and the model is not asked", len(q.Options))}
	}
	return text, nil
}

func numbered(options []string, n int) (string, error) {
	if n < 1 || n > len(options) {
		return "", &app.ExitError{
			Code: app.ExitUsage, Text: fmt.Sprintf("there is no option %d: the question has %d", n, len(options)),
			Hint: "to answer with the number itself: --text " + strconv.Itoa(n),
		}
	}
	return options[n-1], nil
}

// Both are the approvals that a session waits for, and its questions.
func Both(st *session.State) []Wait {
	return append(Of(st, Approval), Of(st, Question)...)
}

// DecidedAgain is told of a call that may need no answer any more.
const DecidedAgain = "since a rule was granted it is decided again when the session goes on; an answer is still taken"
