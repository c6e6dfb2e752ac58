package homes

import (
	"context"
	"errors"
	"slices"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/view"
)

// LostInReboot lists a session's own tasks that a reboot took and about which nothing was done or said yet, without
// holding the session: those that are due to run again, and those that nobody has looked for since.
func (ts Tasks) LostInReboot(st *session.State) (out []view.Task) {
	h := ts.home
	for i, v := range h.Tasks().Of(st) {
		t := &st.Tasks[i]
		unbegun := t.Status == command.Starting && t.Cause == command.ReasonReboot
		unseen := t.Live() && (v.Status == taskLost && v.Reason == command.ReasonReboot || v.By == command.BySystem && t.BootID != task.BootID())
		if v.SessionID == st.ID && (unbegun || unseen || t.Due && !t.GoingDown(task.BootID())) {
			out = append(out, v)
		}
	}
	return out
}

// Restore takes a session's lease, runs those of its tasks again that a reboot took and that a human granted it to, by
// the given rules (nil: those that the session has), and gives the lease back. Nothing else of the session goes on. It
// may be repeated, interrupted and called by several processes at once: a task comes to run once. Errors:
// store.ErrNotFound, *store.HeldError.
func (ts Tasks) Restore(ctx context.Context, id string, rules []session.Rule) ([]view.Restored, error) {
	h := ts.home
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	due := h.Tasks().LostInReboot(st)
	s, err := h.open(ctx, id, engine.Options{Rules: rules, SetRules: rules != nil})
	if err != nil {
		return nil, err
	}
	err = s.RestoreTasks(ctx)
	out := h.restored(s.State(), due)
	return out, errors.Join(err, s.Close(ctx, "restored"))
}

// restored words what became of the tasks that a reboot had taken.
func (h *Home) restored(st *session.State, due []view.Task) []view.Restored {
	out := []view.Restored{}
	for i, v := range h.Tasks().Of(st) {
		j := slices.IndexFunc(due, func(d view.Task) bool { return d.ID == v.ID && v.SessionID == st.ID })
		if j < 0 {
			continue
		}
		r := view.Restored{Task: v, Again: v.PID > 0 && (v.Attempt > due[j].Attempt || due[j].Status == taskRunning)}
		switch t := st.Tasks[i]; {
		case r.Again:
		case t.NotRestarted != "":
			r.Why = t.NotRestarted
		case t.Due:
			r.Why = "the session is " + string(st.Lifecycle)
		case t.Restart == "":
			r.Why = "its restart policy is never"
		default:
			r.Why = "it had been dealt with before"
		}
		out = append(out, r)
	}
	return out
}
