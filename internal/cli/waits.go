package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/homes"
	safe "github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// wait is something that one session needs from a human.
type wait struct {
	id      string // session id:act id
	session string
	cwd     string
	call    *session.Call
	again   bool // it is decided again when the session goes on, and may need nothing any more
}

// shown is the call as it is answered.
func (w wait) shown() view.Waiting {
	return view.Waiting{Session: w.session, Act: w.call.ID, Bound: w.call.Approval.Bound}
}

// The kinds of waits.
const (
	kindApproval = "approval"
	kindQuestion = "question"
)

// waitsOf lists what a state waits for, of one kind.
func waitsOf(st *session.State, kind string) []wait {
	var out []wait
	for _, w := range session.Waits(st) {
		if w.Kind == kind {
			out = append(out, waitOf(st, w.Call))
		}
	}
	if kind == kindApproval {
		for _, c := range session.DecidedAgain(st) {
			w := waitOf(st, c)
			w.again = true
			out = append(out, w)
		}
	}
	return out
}

func waitOf(st *session.State, c *session.Call) wait {
	return wait{id: st.ID + ":" + c.ID, session: st.ID, cwd: st.Cwd, call: c}
}

// mayWait tells whether something may wait in a session that does this: beside a command that runs, or where one of
// several calls was answered and nobody has gone on since.
func mayWait(does session.Activity) bool {
	switch does {
	case session.Waiting, session.Running, session.Parked, session.Interrupted:
		return true
	case session.Idle, session.Stopped, session.Failed, session.Asleep:
	}
	return false
}

// allWaits lists what the sessions of the home wait for.
func (a *App) allWaits(ctx context.Context, h *homes.Home, kind string) ([]wait, error) {
	var out []wait
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
			a.note("left out: %v", err)
			return nil
		}
		out = append(out, waitsOf(st, kind)...)
		return nil
	})
	return out, err
}

// findWait finds one wait by SESSION:ACT, by an act that waits in one session alone, or by a session in which exactly
// one waits.
func (a *App) findWait(ctx context.Context, h *homes.Home, ref, kind string) (wait, error) {
	name, act := ref, ""
	if i := strings.LastIndexByte(ref, ':'); i >= 0 && isAct(ref[i+1:]) {
		name, act = ref[:i], ref[i+1:]
	}
	id, err := a.resolve(ctx, h, name)
	var missing *exitError
	if act == "" && isAct(ref) && errors.As(err, &missing) && missing.code == exitMissing {
		return a.waitByAct(ctx, h, ref, kind)
	}
	if err != nil {
		return wait{}, err
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return wait{}, err
	}
	waits := waitsOf(st, kind)
	if act != "" {
		waits = slices.DeleteFunc(waits, func(w wait) bool { return session.BaseOf(w.call.ID) != session.BaseOf(act) })
	}
	switch len(waits) {
	case 0:
		return wait{}, noWait(st, ref, kind)
	case 1:
		return waits[0], nil
	}
	return wait{}, unclearWait(fmt.Sprintf("session %s waits for more than one %s", id, kind), waits)
}

// waitByAct finds the wait that has an act's id, whatever its session.
func (a *App) waitByAct(ctx context.Context, h *homes.Home, act, kind string) (wait, error) {
	all, err := a.allWaits(ctx, h, kind)
	if err != nil {
		return wait{}, err
	}
	found := slices.DeleteFunc(all, func(w wait) bool { return session.BaseOf(w.call.ID) != session.BaseOf(act) })
	switch len(found) {
	case 0:
		return wait{}, &exitError{code: exitMissing, text: fmt.Sprintf("no %s waits as %q", kind, act), hint: "perdure approvals list shows what waits"}
	case 1:
		return found[0], nil
	}
	return wait{}, unclearWait(fmt.Sprintf("more than one %s waits as %q", kind, act), found)
}

// unclearWait names the waits of which one was meant.
func unclearWait(text string, waits []wait) error {
	e := &exitError{code: exitUsage, text: text}
	if waits[0].call.Question == nil && !slices.ContainsFunc(waits, func(w wait) bool { return w.session != waits[0].session }) {
		e.hint = "--all " + waits[0].session + " means all of them"
	}
	for _, w := range waits {
		about := callLine(w)
		if q := w.call.Question; q != nil {
			about = strconv.Quote(oneline(q.Question, maxCell))
		}
		e.more = append(e.more, w.id+"  "+about)
	}
	return e
}

// noWait tells that nothing of a kind waits in a session under a name, and what does.
func noWait(st *session.State, ref, kind string) error {
	e := &exitError{code: exitMissing, text: fmt.Sprintf("no %s waits as %q", kind, ref)}
	same, other := waitsOf(st, kind), waitsOf(st, map[string]string{kindApproval: kindQuestion, kindQuestion: kindApproval}[kind])
	switch {
	case len(same) > 0:
		e.hint = "nearest: " + strings.Join(nearest(ref, waitIDs(same)), ", ")
	case len(other) > 0 && kind == kindApproval:
		e.hint = "a question waits there: perdure answer " + st.ID
	case len(other) > 0:
		e.hint = "an approval waits there: perdure approvals list " + st.ID
	default:
		e.hint = "perdure approvals list shows what waits"
	}
	return e
}

func waitIDs(waits []wait) []string {
	out := make([]string, len(waits))
	for i, w := range waits {
		out[i] = w.id
	}
	return out
}

// nearest are at most three of the candidates, those that look most like name first.
func nearest(name string, candidates []string) []string {
	near := slices.Clone(candidates)
	slices.SortStableFunc(near, func(x, y string) int { return cmp.Compare(safe.Distance(name, x), safe.Distance(name, y)) })
	return near[:min(3, len(near))]
}

// isAct tells whether s has the form of an act's id, t1.s2.b3 with or without an attempt .a4.
func isAct(s string) bool {
	letters := "tsba"
	for i, part := range strings.Split(s, ".") {
		if i >= len(letters) || len(part) < 2 || part[0] != letters[i] || strings.Trim(part[1:], "0123456789") != "" {
			return false
		}
	}
	return strings.Count(s, ".") >= 2
}
