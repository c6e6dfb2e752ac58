package run

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// contextClass is the class of a failure that only a larger window, or less conversation, can mend.
const contextClass = "context"

// retrying tells that a model call failed and when it is made again.
func (p *printer) retrying(b *session.ModelFailed) {
	if p.handing && session.ForSummary(b.Act) {
		p.app.Note("%s; the handoff is written from the log", unanswered(b.Class, b.Status, b.Message))
		return
	}
	if b.RetryAt == 0 {
		return
	}
	now := p.app.Now()
	p.app.Note("%s; next try in %s, until %s", unanswered(b.Class, b.Status, b.Message),
		span(time.UnixMilli(b.RetryAt).Sub(now)), clock(time.UnixMilli(b.Until), now))
}

// unanswered says in one line what a model call came to.
func unanswered(class string, status int, message string) string {
	what := map[string]string{ // by the classes of package model
		"unreachable": "model unreachable", "disconnect": "the connection to the model broke",
		"timeout": "the model did not answer in time", "rate_limit": "the model's API asks to wait",
		"server": "the model's API failed", "protocol": "the model's answer was not understood",
		"auth": "the model's API refused the key", "not_found": "the model's API knows no such model",
		"invalid": "the model's API refused the request", contextClass: "the conversation is too long for the model",
	}[class]
	what = cmp.Or(what, "the model call failed ("+class+")")
	if status != 0 {
		what += fmt.Sprintf(", status %d", status)
	}
	return what + " (" + display.Line(cause(message), 300) + ")"
}

// cause leaves out of a network error what was asked for, and by which layers of the program.
func cause(message string) string {
	if strings.HasPrefix(message, "Post ") || strings.HasPrefix(message, "Get ") {
		for _, mark := range []string{": connect: ", ": lookup ", ": read: ", ": write: ", "\": "} {
			if _, rest, ok := strings.Cut(message, mark); ok {
				return rest
			}
		}
	}
	return message
}

// failed says why a turn stopped without an answer, and how to go on.
func (p *printer) failed(r *view.Result) {
	a, f := p.app, r.Failure
	if f == nil {
		a.Note("session %s: %s: %s", r.SessionID, r.StopReason, display.Line(r.Message, 2000))
		return
	}
	a.Note("session %s: %s", r.SessionID, unanswered(f.Class, f.Status, f.Message))
	if f.Class == contextClass {
		p.tooLong(r)
		return
	}
	if f.Remedy != "" {
		a.Hint("%s", f.Remedy)
	}
	a.Hint("perdure -p --resume %s goes on with the turn; nothing need be typed again", p.call(r))
	if f.Class == "invalid" {
		p.forkBefore(r)
	}
}

// tooLong says what helps when the conversation does not fit the window.
func (p *printer) tooLong(r *view.Result) {
	if strings.Contains(r.Message, session.CompactionOff) {
		p.app.Hint("perdure compact %s makes room, then perdure -p --resume %s goes on; with --no-compact=false it does so by itself", p.call(r), p.call(r))
	}
	prompt := ""
	if !r.TurnOpen {
		prompt = " PROMPT"
	}
	p.app.Hint("perdure -p --resume %s --model PROVIDER/MODEL%s goes on with a model of a larger window", p.call(r), prompt)
	p.forkBefore(r)
}

// forkBefore names a position before the turn, if there is one.
func (p *printer) forkBefore(r *view.Result) {
	if r.Before > 0 {
		p.app.Hint("perdure fork %s@%d makes a session that ends before this turn", p.short(r), r.Before)
	}
}

// limited says which limit stopped a turn, and how to go on.
func (p *printer) limited(r *view.Result) {
	p.app.Note("session %s stopped: %s", r.SessionID, r.Message)
	switch r.StopReason {
	case session.TurnMaxSteps:
		p.app.Hint("perdure -p --resume %s goes on, for as many steps again; --max-turns N sets another number", p.call(r))
	case session.TurnMaxBudget:
		p.app.Hint("perdure -p --resume %s --max-budget-usd X goes on with another budget; 0 or none takes it off", p.call(r))
	case session.TurnContextLimit:
		p.tooLong(r)
	}
}

// span is a time that is waited, for people: to the second, without the parts that are zero.
func span(d time.Duration) string {
	if d < time.Second {
		return "1 s"
	}
	d = d.Round(time.Second)
	var parts []string
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if n := d / u.unit; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
			d -= n * u.unit
		}
	}
	return strings.Join(parts, " ")
}

// clock is a moment in the reader's zone: the time, and the day if it is not today's.
func clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}
