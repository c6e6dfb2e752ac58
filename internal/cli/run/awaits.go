package run

import (
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// awaits names what the model is still to be told of when the run ends, and how it gets to know.
func (p *printer) awaits(r *view.Result) {
	if len(r.Awaits) == 0 || r.StopReason == session.TurnParked && r.Message != "" {
		return
	}
	p.app.Note("session %s is to be told:", r.SessionID)
	p.list(r)
	p.app.Hint("perdure -p --resume %s --wait sleeps until then; any later resume tells it too", r.SessionID)
}

func (p *printer) list(r *view.Result) {
	const shown = 8
	for i, a := range r.Awaits {
		if i == shown {
			p.app.Hint("and %d more; perdure show %s has all", len(r.Awaits)-i, r.SessionID)
			return
		}
		p.app.Hint("%s", sessions.AwaitLine(p.app, a))
	}
}
