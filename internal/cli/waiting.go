package cli

import (
	"context"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// waiting shows what a session waits for, and gives it. here tells that they are asked about at this terminal, so
// that nothing has to be run for it.
func (p *printer) waiting(r *view.Result, here bool) []wait {
	a := p.app
	a.note("session %s waits for you:", r.SessionID)
	for _, w := range r.Waiting {
		if w.Kind != kindQuestion {
			continue
		}
		a.hint("%s asks: %s", w.ID, shown(w.Question.Question, 2000))
		for i, o := range w.Question.Options {
			a.hint("  %d. %s", i+1, shown(o, 200))
		}
		if here {
			continue
		}
		if len(w.Question.Options) > 0 {
			a.hint("perdure answer %s NUMBER   (or a text of yours)", w.ID)
		} else {
			a.hint("perdure answer %s TEXT", w.ID)
		}
	}
	waits, calls := p.waits(r), 0
	for _, w := range waits {
		if w.call.Question != nil {
			continue
		}
		calls++
		a.hint("%s  %s", w.id, shown(w.call.Tool, maxCell))
		for _, l := range callLines(w, linesAtEnd) {
			a.hint("  %s", l)
		}
		if !here {
			a.hint("perdure approvals allow %s   (or deny)", w.id)
		}
	}
	if calls > 1 && !here {
		a.hint("perdure approvals allow --all %s   allows all of them", r.SessionID)
	}
	return waits
}

// waits are the approvals and questions that wait, as the session has them.
func (p *printer) waits(r *view.Result) []wait {
	st, err := p.home.State(context.Background(), r.SessionID)
	if err != nil {
		p.app.note("what waits cannot be shown: %v", err)
		return nil
	}
	return allWaitsOf(st)
}

// allWaitsOf are the approvals that a session waits for, and its questions.
func allWaitsOf(st *session.State) []wait {
	return append(waitsOf(st, kindApproval), waitsOf(st, kindQuestion)...)
}
