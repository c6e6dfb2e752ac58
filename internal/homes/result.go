package homes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Result says how a run ended. It describes the newest turn of the run; its JSON form is a contract.
type Result struct {
	SessionID  string            `json:"session_id"`
	Turn       int               `json:"turn"`
	StopReason string            `json:"stop_reason"`
	Result     string            `json:"result"`
	Usage      model.Usage       `json:"usage"`
	CostUSD    *float64          `json:"cost_usd"` // null: a price is unknown
	Steps      int               `json:"steps"`
	IsError    bool              `json:"is_error"`
	Waiting    []Waiting         `json:"waiting"`
	Awaits     []AwaitView       `json:"awaits"` // what the model is still to be told of
	Recovered  []engine.Recovery `json:"recovered"`
	Tasks      []TaskView        `json:"tasks"`             // of the session, that live on: find them by `perdure task list`
	Message    string            `json:"message,omitempty"` // why it stopped, if that needs words
	TurnOpen   bool              `json:"turn_open"`         // the turn has not ended: resuming goes on with it
	Before     int64             `json:"before,omitempty"`  // seq of the end of the turn before: a fork there is without this turn
	Failure    *FailureView      `json:"failure,omitempty"` // the model call that the open turn is without
	NumTurns   int               `json:"num_turns"`         // that ran, the one that is left open included
	DurationMS int64             `json:"duration_ms"`       // of the run
	Turns      []TurnResult      `json:"turns,omitempty"`   // if more than one ran: how each ended, oldest first, the last 1,024
}

// count adds what is known of the whole run.
func (r *Result) count(w *turnWatch, took time.Duration) {
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
		r.Turns = append(r.Turns, TurnResult{Turn: r.Turn, StopReason: r.StopReason, Result: r.Result})
	}
}

// Waiting is something that needs a human before the turn can go on.
type Waiting struct {
	Session string       `json:"-"`
	Act     string       `json:"-"`
	Bound   store.Digest `json:"-"` // of an approval: what was shown, see [Home.Approve]
	Offer   string       `json:"-"` // of an approval: the rule that would cover just this call; empty if there is none

	ID       string            `json:"id"`   // session id:act id
	Kind     string            `json:"kind"` // approval or question
	Tool     string            `json:"tool"`
	Input    any               `json:"input"`
	Question *session.Question `json:"question,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	// Again: a rule that was granted since may allow it; it is decided when the session goes on, and an answer is still
	// taken.
	Again bool `json:"decided_again,omitempty"`
}

// result describes the newest turn.
func (h *Home) result(ctx context.Context, s *engine.Session, turnsBefore int, wasOpen, parked bool) (*Result, error) {
	st := s.State()
	r := &Result{SessionID: st.ID, Waiting: h.Waits(st), Awaits: AwaitViews(st), Recovered: describe(s.Recovered(), st), Tasks: h.Tasks().Live(st)}
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
func (ts Tasks) Live(st *session.State) []TaskView {
	h := ts.home
	return slices.DeleteFunc(h.Tasks().Of(st), func(t TaskView) bool { return t.SessionID != st.ID || !t.Live() })
}

// restReason says why an open turn does not go on, for programs and for people.
func restReason(st *session.State) (reason, message string) {
	reason, message = st.Halt()
	for _, w := range session.Waits(st) {
		if reason = session.TurnWaitingAnswer; w.Kind == "approval" {
			return session.TurnWaitingApproval, message
		}
	}
	if reason == "" {
		return session.TurnParked, "the session is " + string(st.Lifecycle)
	}
	return reason, message
}

// usd converts nano-USD; nil when a call's price is unknown.
func usd(nano, unpriced int64) *float64 {
	if unpriced > 0 {
		return nil
	}
	f := float64(nano) / 1e9
	return &f
}

// Waits lists what a session needs from humans.
func (h *Home) Waits(st *session.State) []Waiting {
	out := []Waiting{}
	for _, w := range session.Waits(st) {
		out = append(out, waitingOf(st, w.Call, w.Kind))
	}
	return out
}

func waitingOf(st *session.State, c *session.Call, kind string) Waiting {
	w := Waiting{Session: st.ID, Act: c.ID, ID: st.ID + ":" + c.ID, Kind: kind, Tool: c.Tool, Input: JSONValue(c.Input), Question: c.Question}
	if c.Approval != nil {
		w.Reason, w.Bound, w.Offer = c.Approval.Reason, c.Approval.Bound, c.Approval.Offer
	}
	return w
}

// describe adds to what was interrupted how it ended.
func describe(recs []engine.Recovery, st *session.State) []engine.Recovery {
	out := slices.Clone(recs)
	if out == nil {
		out = []engine.Recovery{}
	}
	for i, r := range out {
		if r.Kind != "act" {
			continue
		}
		for _, a := range acts(st) {
			if session.BaseOf(a.ID) == session.BaseOf(r.ID) && a.Outcome != "" {
				out[i].Text = fmt.Sprintf("%s; outcome: %s", r.Text, a.Outcome)
			}
		}
	}
	return out
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
