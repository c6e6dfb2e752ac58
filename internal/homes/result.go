package homes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/meter"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/view"
)

// count adds what is known of the whole run.
func count(r *view.Result, w *turnWatch, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.NumTurns, r.DurationMS = w.count, took.Milliseconds()
	open := r.Turn > 0 && (len(w.all) == 0 || w.all[len(w.all)-1].Turn != r.Turn)
	if open {
		r.NumTurns++
	}
	if r.NumTurns < 2 {
		return
	}
	if r.Turns = slices.Clone(w.all); open {
		r.Turns = append(r.Turns, view.Turn{Turn: r.Turn, StopReason: r.StopReason, Result: r.Result})
	}
}

// result describes the newest turn.
func (h *Home) result(ctx context.Context, s *engine.Session, turnsBefore int, wasOpen, parked bool) (*view.Result, error) {
	st := s.State()
	r := &view.Result{SessionID: st.ID, Waiting: h.Waits(st), Awaits: AwaitViews(st), Recovered: h.describe(s.Recovered(), st), Tasks: h.Tasks().Live(st)}
	switch {
	case st.Turn != nil:
		t := st.Turn
		r.TurnOpen, r.Failure = true, failureView(st)
		if st.LastTurn != nil {
			r.Before = st.LastTurn.Seq
		}
		r.Turn, r.Steps, r.Usage, r.CostUSD = t.N, t.Step, t.Usage, usd(t.Cost, t.Unpriced)
		r.StopReason, r.Message = restReason(st)
		if parked {
			r.StopReason = session.TurnParked
		}
	case st.LastTurn != nil && (st.Turns > turnsBefore || wasOpen):
		t := st.LastTurn
		r.Turn, r.Steps, r.Usage, r.CostUSD = t.N, t.Steps, t.Usage, usd(t.Cost, t.Unpriced)
		r.StopReason, r.Message = t.Stop, t.Message
	default:
		r.StopReason = session.TurnNone
		if parked {
			r.StopReason = session.TurnParked
		}
		zero := 0.0
		r.CostUSD = &zero
		return r, nil
	}
	r.IsError = slices.Contains(failures, r.StopReason)
	if r.Steps == 0 {
		return r, nil // the newest reply is an earlier turn's
	}
	t, err := s.Transcript(ctx)
	if err != nil {
		return r, err
	}
	r.Result = t.LastText()
	return r, nil
}

// failures are the stop reasons of a turn that did not come to its end, and will not by waiting: a limit is no error of
// the model, but whoever looks for an answer has none.
var failures = []string{
	session.TurnError, session.TurnRefusal, session.TurnContextLimit, session.TurnMaxSteps, session.TurnMaxBudget,
}

// Live are the session's own tasks of which a process is left.
func (ts Tasks) Live(st *session.State) []view.Task {
	h := ts.home
	return slices.DeleteFunc(h.Tasks().Of(st), func(t view.Task) bool { return t.SessionID != st.ID || !t.Live() })
}

// restReason says why an open turn does not go on, for programs and for people.
func restReason(st *session.State) (reason, message string) {
	reason, message = st.Halt()
	for _, w := range session.Waits(st) {
		if reason = session.TurnWaitingAnswer; w.Kind == "approval" {
			return session.TurnWaitingApproval, message
		}
	}
	switch {
	case reason != "":
		return reason, message
	case st.Lifecycle == session.LifecycleOpen:
		return session.TurnParked, ""
	}
	return session.TurnParked, "the session is " + string(st.Lifecycle)
}

// usd converts nano-USD; nil when a call's price is unknown.
func usd(nano, unpriced int64) *float64 {
	if unpriced > 0 {
		return nil
	}
	f := float64(nano) / 1e9
	return &f
}

// spent is what the calls of a session have taken up to a moment.
type spent struct {
	usage          model.Usage
	cost, unpriced int64
}

func spentBy(st *session.State) spent { return spent{st.Total(), st.Spent, st.Unpriced} }

// charge adds to a result what the session has taken since: the words of a handoff belong to no turn, and whoever adds up
// results must find them.
func (before spent) charge(r *view.Result, st *session.State) {
	now := spentBy(st)
	was := before.usage
	meter.Add(&r.Usage, now.usage)
	meter.Add(&r.Usage, model.Usage{
		Input: -was.Input, Output: -was.Output, CacheRead: -was.CacheRead, CacheWrite: -was.CacheWrite, LostInput: -was.LostInput,
	})
	switch {
	case now.unpriced > before.unpriced:
		r.CostUSD = nil
	case r.CostUSD != nil:
		sum := *r.CostUSD + float64(now.cost-before.cost)/1e9
		r.CostUSD = &sum
	}
}

// Waits lists what a session needs from humans.
func (h *Home) Waits(st *session.State) []view.Waiting {
	out := []view.Waiting{}
	for _, w := range session.Waits(st) {
		out = append(out, waitingOf(st, w.Call, w.Kind))
	}
	return out
}

func waitingOf(st *session.State, c *session.Call, kind string) view.Waiting {
	w := view.Waiting{Session: st.ID, Act: c.ID, ID: st.ID + ":" + c.ID, Kind: kind, Tool: c.Tool, Input: JSONValue(c.Input), Question: (*view.Question)(c.Question)}
	if c.Approval != nil {
		w.Reason, w.Bound, w.Offer = c.Approval.Reason, c.Approval.Bound, c.Approval.Offer
	}
	return w
}

// describe adds to what was interrupted how it ended; a command that runs on was not.
func (h *Home) describe(recs []engine.Recovery, st *session.State) []view.Recovery {
	out := make([]view.Recovery, len(recs))
	for i, r := range recs {
		out[i] = view.Recovery(r)
		if r.Kind != "act" {
			continue
		}
		for _, a := range acts(st) {
			if session.BaseOf(a.ID) != session.BaseOf(r.ID) {
				continue
			}
			switch {
			case a.Outcome != "":
				out[i].Text = fmt.Sprintf("%s; outcome: %s", r.Text, a.Outcome)
			case a.State == session.ActExecuting && a.Effect == session.EffectProcess && h.runs(st.ID, a.ID):
				out[i].Text = "still running: " + a.Tool
			}
		}
	}
	return out
}

// runs reports whether the command of an act runs.
func (h *Home) runs(id, act string) bool {
	now, err := h.commands().State(id, act)
	return err == nil && now.Status == command.Running
}

// acts are the acts that the state remembers, the open step's included.
func acts(st *session.State) []session.Act {
	out := slices.Clone(st.Settled)
	if st.Turn != nil {
		for _, c := range st.Turn.Calls {
			out = append(out, session.Act{ID: c.ID, Tool: c.Tool, Effect: c.Effect, State: c.State, Outcome: c.Outcome, Reason: c.Reason})
		}
	}
	return out
}
