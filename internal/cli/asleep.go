package cli

import (
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// awaits names what the model is still to be told of when the run ends, and how it gets to know.
func (p *printer) awaits(r *view.Result) {
	if len(r.Awaits) == 0 || r.StopReason == session.TurnParked && r.Message != "" {
		return
	}
	p.app.note("session %s is to be told:", r.SessionID)
	p.list(r)
	p.app.hint("perdure -p --resume %s --wait sleeps until then; any later resume tells it too", r.SessionID)
}

// awaitLine is one await for people.
func (a *App) awaitLine(v view.Await) string {
	at := ""
	if v.At != 0 {
		at = ", at the latest " + a.local(int64(v.At))
	}
	return v.ID + ": " + shown(v.Text+at, 500)
}

func (p *printer) list(r *view.Result) {
	const shown = 8
	for i, a := range r.Awaits {
		if i == shown {
			p.app.hint("and %d more; perdure show %s has all", len(r.Awaits)-i, r.SessionID)
			return
		}
		p.app.hint("%s", p.app.awaitLine(a))
	}
}
