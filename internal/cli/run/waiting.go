package run

import (
	"context"
	"slices"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/pending"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// waiting shows what a session waits for, and gives it. here tells that they are asked about at this terminal, so
// that nothing has to be run for it.
func (p *printer) waiting(r *view.Result, here bool) []pending.Wait {
	a := p.app
	a.Note("session %s waits for you:", r.SessionID)
	waits, calls := p.waits(r), 0
	for _, w := range r.Waiting {
		if w.Kind != pending.Question {
			continue
		}
		a.Hint("%s asks: %s", p.callWait(r, w.ID), display.Shown(w.Question.Question, 2000))
		for i, o := range w.Question.Options {
			a.Hint("  %d. %s", i+1, display.Shown(o, 200))
		}
		if here {
			continue
		}
		lost := slices.ContainsFunc(waits, func(o pending.Wait) bool { return o.ID == w.ID && o.Call.Lost() })
		switch {
		case lost:
			a.Hint("perdure answer %s NUMBER", p.callWait(r, w.ID))
		case len(w.Question.Options) > 0:
			a.Hint("perdure answer %s NUMBER   (or a text of yours)", p.callWait(r, w.ID))
		default:
			a.Hint("perdure answer %s TEXT", p.callWait(r, w.ID))
		}
	}
	for _, w := range waits {
		if w.Call.Question != nil {
			continue
		}
		calls++
		a.Hint("%s  %s", p.callWait(r, w.ID), display.Shown(w.Call.Tool, display.MaxCell))
		for _, l := range pending.Lines(w, pending.LinesAtEnd) {
			a.Hint("  %s", l)
		}
		if !here {
			a.Hint("perdure approvals allow %s   (or deny)", p.callWait(r, w.ID))
		}
	}
	if calls > 1 && !here {
		a.Hint("perdure approvals allow --all %s   allows all of them", p.call(r))
	}
	return waits
}

// waits are the approvals and questions that wait, as the session has them.
func (p *printer) waits(r *view.Result) []pending.Wait {
	st, err := p.home.State(context.Background(), r.SessionID)
	if err != nil {
		p.app.Note("what waits cannot be shown: %v", err)
		return nil
	}
	return pending.Both(st)
}

// awaits names what the model is still to be told of when the run ends, and how it gets to know.
func (p *printer) awaits(r *view.Result) {
	if len(r.Awaits) == 0 || r.StopReason == session.TurnParked && r.Message != "" {
		return
	}
	p.app.Note("session %s is to be told:", r.SessionID)
	p.list(r)
	p.app.Hint("perdure -p --resume %s --wait sleeps until then; any later resume tells it too", p.call(r))
}

func (p *printer) list(r *view.Result) {
	const shown = 8
	for i, a := range r.Awaits {
		if i == shown {
			p.app.Hint("and %d more; perdure show %s has all", len(r.Awaits)-i, p.call(r))
			return
		}
		p.app.Hint("%s", sessions.AwaitLine(p.app, a))
	}
}
