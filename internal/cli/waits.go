package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure"
	safe "github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/store"
)

// wait is something that one session needs from a human.
type wait struct {
	id      string // session id:act id
	session string
	cwd     string
	call    *session.Call
}

// shown is the call as it is answered.
func (w wait) shown() perdure.Waiting {
	return perdure.Waiting{Session: w.session, Act: w.call.ID, Bound: w.call.Approval.Bound}
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
			out = append(out, wait{id: st.ID + ":" + w.Call.ID, session: st.ID, cwd: st.Cwd, call: w.Call})
		}
	}
	return out
}

// allWaits lists what the sessions of the home wait for.
func (a *App) allWaits(ctx context.Context, h *perdure.Home, kind string) ([]wait, error) {
	var out []wait
	// A session that runs may wait too: a command runs on while a later call of the same reply waits for its approval.
	for _, activity := range []session.Activity{session.Waiting, session.Running} {
		err := h.Each(ctx, store.Query{Activity: string(activity)}, func(s perdure.Listing) error {
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
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// findWait finds one wait by SESSION:ACT, or by a session in which exactly one waits.
func (a *App) findWait(ctx context.Context, h *perdure.Home, ref, kind string) (wait, error) {
	name, act := ref, ""
	if i := strings.LastIndexByte(ref, ':'); i >= 0 && isAct(ref[i+1:]) {
		name, act = ref[:i], ref[i+1:]
	}
	id, err := resolve(ctx, h, name)
	if err != nil {
		return wait{}, err
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return wait{}, err
	}
	waits := waitsOf(st, kind)
	if act != "" {
		for _, w := range waits {
			if session.BaseOf(w.call.ID) == session.BaseOf(act) {
				return w, nil
			}
		}
		return wait{}, a.noWait(ctx, h, ref, kind, waits)
	}
	switch len(waits) {
	case 0:
		return wait{}, a.noWait(ctx, h, ref, kind, nil)
	case 1:
		return waits[0], nil
	}
	return wait{}, &exitError{
		code: exitUsage, text: fmt.Sprintf("session %s waits for more than one %s", id, kind), hint: "name one: " + strings.Join(waitIDs(waits), ", "),
	}
}

// noWait tells that nothing waits under a name, and what does.
func (a *App) noWait(ctx context.Context, h *perdure.Home, ref, kind string, near []wait) error {
	e := &exitError{code: exitMissing, text: fmt.Sprintf("no %s waits as %q", kind, ref), hint: "none waits anywhere"}
	if len(near) == 0 {
		var err error
		if near, err = a.allWaits(ctx, h, kind); err != nil {
			return err
		}
	}
	if len(near) > 0 {
		e.hint = "nearest: " + strings.Join(nearest(ref, waitIDs(near)), ", ")
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
