package cli

import (
	"github.com/perdure/perdure"
	"github.com/perdure/perdure/session"
)

// asleep tells that a run with --wait goes to sleep, and what wakes it. In text mode the turn's words come now: their
// reader need not wait for the next one.
func (p *printer) asleep(r *perdure.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.format == "stream-json":
		_ = p.enc.Encode(streamLine{Type: "asleep", Session: r.SessionID, Result: r})
		return
	case p.format == "text":
		p.soFar(r)
	}
	if len(r.Waiting) > 0 {
		p.waiting(r)
		p.app.hint("this process sleeps until then, and goes on")
	}
	if len(r.Awaits) > 0 {
		p.app.note("session %s sleeps until it can tell:", r.SessionID)
		p.list(r)
	}
}

// awaits names what the model is still to be told of when the run ends, and how it gets to know.
func (p *printer) awaits(r *perdure.Result) {
	if len(r.Awaits) == 0 || r.StopReason == session.TurnParked && r.Message != "" {
		return
	}
	p.app.note("session %s is to be told:", r.SessionID)
	p.list(r)
	p.app.hint("perdure -p --resume %s --wait sleeps until then; any later resume tells it too", r.SessionID)
}

// awaitLine is one await for people.
func awaitLine(v perdure.AwaitView) string {
	at := ""
	if v.At != 0 {
		at = ", at the latest " + v.At.String()
	}
	return v.ID + ": " + oneline(v.Text+at, 500)
}

func (p *printer) list(r *perdure.Result) {
	const shown = 8
	for i, a := range r.Awaits {
		if i == shown {
			p.app.hint("and %d more; perdure show %s has all", len(r.Awaits)-i, r.SessionID)
			return
		}
		p.app.hint("%s", awaitLine(a))
	}
}
