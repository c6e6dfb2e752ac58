package cli

import (
	"encoding/json"
	"sync"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/engine"
	"github.com/perdure/perdure/session"
)

// maxReport bounds the lines that tell what a resume found.
const maxReport = 8

// printer words a run in one of the output formats. Deltas come from another goroutine than events.
type printer struct {
	app    *App
	format string
	piped  int // bytes of stdin that went with the prompt
	mu     sync.Mutex
	enc    *json.Encoder
	// In text format each answer is printed once, as soon as its turn ends or the run goes to sleep or stops in it.
	replies int // of the model, that this run has seen
	printed int // how many of them were there when an answer was printed last; -1: none was
	answers int // printed
}

func (a *App) printer(format string) *printer {
	return &printer{app: a, format: format, enc: encoder(a.Stdout), printed: -1}
}

// streamLine is one line of stream-json.
type streamLine struct {
	Type    string          `json:"type"` // session, event, delta, asleep, result
	Session string          `json:"session_id"`
	Resumed *bool           `json:"resumed,omitempty"`
	Event   any             `json:"event,omitempty"`
	Act     string          `json:"act,omitempty"`
	Kind    string          `json:"kind,omitempty"`
	Text    string          `json:"text,omitempty"`
	Result  *perdure.Result `json:"result,omitempty"` // of asleep: what it has come to so far
}

func (p *printer) line(l streamLine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.enc.Encode(l) // a closed stdout is no reason to lose the session
}

// opened announces the session, so that it can be found while it runs.
func (p *printer) opened(s *engine.Session, resumed bool) {
	if p.format == "stream-json" {
		p.line(streamLine{Type: "session", Session: s.State().ID, Resumed: &resumed})
		return
	}
	text := "session " + s.State().ID
	if p.piped > 0 {
		text += ", with " + size(int64(p.piped)) + " of stdin"
	}
	p.app.note("%s", text)
}

// observe shows events and deltas as they come.
func (p *printer) observe(u engine.Update) {
	if _, ok := u.Body.(*session.ModelResponded); ok {
		p.mu.Lock()
		p.replies++
		p.mu.Unlock()
	}
	if p.format != "stream-json" {
		return
	}
	if u.Event == nil {
		p.line(streamLine{Type: "delta", Session: u.Session, Act: u.Act, Kind: u.Kind, Text: u.Text})
		return
	}
	p.line(streamLine{Type: "event", Session: u.Session, Event: session.EventView(*u.Event, u.Body)})
}

// result prints the outcome: to stdout what was asked for, to stderr what a person should know.
func (p *printer) result(r *perdure.Result, resumed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if resumed {
		p.report(r)
	}
	switch p.format {
	case "json":
		_ = p.enc.Encode(r)
	case "stream-json":
		_ = p.enc.Encode(streamLine{Type: "result", Session: r.SessionID, Result: r})
	default:
		p.soFar(r)
	}
	p.stop(r)
	p.awaits(r)
}

// turnEnded prints the answer of a turn.
func (p *printer) turnEnded(t perdure.TurnResult) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.format == "text" && p.replies > p.printed {
		p.answer(t.Result)
	}
}

// soFar prints what the model said in a turn that is left open, if that is new.
func (p *printer) soFar(r *perdure.Result) {
	if p.replies > max(p.printed, 0) {
		p.answer(r.Result)
	}
}

// answer prints a text of the model on stdout, a blank line between two of them.
func (p *printer) answer(text string) {
	if text == "" {
		return
	}
	if p.answers > 0 {
		p.app.linef("")
	}
	p.app.linef("%s", plain(text))
	p.answers++
	p.printed = p.replies
}

// report tells what resuming found, in at most eight lines.
func (p *printer) report(r *perdure.Result) {
	for i, rec := range r.Recovered {
		if i == maxReport-1 && len(r.Recovered) > maxReport {
			p.app.hint("and %d more; perdure show %s has the state", len(r.Recovered)-i, r.SessionID)
			return
		}
		p.app.hint("resumed: %s %s: %s", rec.Kind, oneline(rec.ID, 500), oneline(rec.Text, 500))
		p.app.quote(rec.Output)
	}
}

// stop says why the run stopped, and how to go on.
func (p *printer) stop(r *perdure.Result) {
	a := p.app
	switch r.StopReason {
	case session.TurnEndTurn:
	case session.TurnNone:
		a.note("session %s: there is no interrupted turn", r.SessionID)
	case session.TurnWaitingApproval, session.TurnWaitingAnswer:
		p.waiting(r)
		a.hint("then: perdure -p --resume %s", r.SessionID)
	case session.TurnMaxSteps, session.TurnMaxBudget, session.TurnContextLimit:
		a.note("session %s stopped: %s", r.SessionID, r.Message)
		a.hint("perdure -p --resume %s goes on", r.SessionID)
	case session.TurnCancelled:
		a.note("session %s: the turn was cancelled", r.SessionID)
	case session.TurnParked:
		if r.Message != "" { // somebody paused or closed it while it ran
			a.note("session %s stopped: %s; the turn stays open", r.SessionID, r.Message)
			return
		}
		a.note("session %s is parked: the turn stays open and its command runs on", r.SessionID)
		a.hint("perdure -p --resume %s goes on", r.SessionID)
	default:
		a.note("session %s: %s: %s", r.SessionID, r.StopReason, r.Message)
	}
}

func (p *printer) waiting(r *perdure.Result) {
	a := p.app
	a.note("session %s waits for you:", r.SessionID)
	for _, w := range r.Waiting {
		if w.Kind == "question" {
			a.hint("%s asks: %s", w.ID, oneline(w.Question.Question, 2000))
			for i, o := range w.Question.Options {
				a.hint("  %d. %s", i+1, oneline(o, 200))
			}
			if len(w.Question.Options) > 0 {
				a.hint("perdure answer %s NUMBER   (or a text of yours)", w.ID)
			} else {
				a.hint("perdure answer %s TEXT", w.ID)
			}
			continue
		}
		a.hint("%s: %s %s", w.ID, oneline(w.Tool, maxCell), oneline(inputText(w.Input), 200))
		a.hint("perdure approvals allow %s   (or deny)", w.ID)
	}
}
