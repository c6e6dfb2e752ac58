package cli

import (
	"context"
	"slices"

	"github.com/perdure/perdure"
)

// waiting shows what a session waits for, and gives the calls. here tells that they are asked about at this terminal, so
// that nothing has to be run for it.
func (p *printer) waiting(r *perdure.Result, here bool) []wait {
	a := p.app
	a.note("session %s waits for you:", r.SessionID)
	for _, w := range r.Waiting {
		if w.Kind != kindQuestion {
			continue
		}
		a.hint("%s asks: %s", w.ID, oneline(w.Question.Question, 2000))
		for i, o := range w.Question.Options {
			a.hint("  %d. %s", i+1, oneline(o, 200))
		}
		if len(w.Question.Options) > 0 {
			a.hint("perdure answer %s NUMBER   (or a text of yours)", w.ID)
		} else {
			a.hint("perdure answer %s TEXT", w.ID)
		}
	}
	waits := p.calls(r)
	for _, w := range waits {
		a.hint("%s  %s", w.id, oneline(w.call.Tool, maxCell))
		for _, l := range callLines(w, linesAtEnd) {
			a.hint("  %s", l)
		}
		if !here {
			a.hint("perdure approvals allow %s   (or deny)", w.id)
		}
	}
	if len(waits) > 1 && !here {
		a.hint("perdure approvals allow --all %s   allows all of them", r.SessionID)
	}
	return waits
}

// calls are the calls that wait for an approval, as the session has them.
func (p *printer) calls(r *perdure.Result) []wait {
	if !slices.ContainsFunc(r.Waiting, func(w perdure.Waiting) bool { return w.Kind != kindQuestion }) {
		return nil
	}
	st, err := p.home.State(context.Background(), r.SessionID)
	if err != nil {
		p.app.note("the calls that wait cannot be shown: %v", err)
		return nil
	}
	return waitsOf(st, kindApproval)
}
