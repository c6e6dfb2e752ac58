package tools

import (
	"context"
	_ "embed"
	"fmt"
	"iter"
	"strings"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

//go:embed history.md
var historyDescription string

// Bounds of what history shows.
const (
	maxHits      = 20
	hitWidth     = 300     // bytes around a hit
	maxHistory   = 30_000  // bytes of a result; the whole of it is kept
	maxOfOneCall = 2 << 20 // bytes of a call's result that are kept
)

// LogEntry is an event of the session's log, or of an ancestor's up to the fork.
type LogEntry struct {
	Session string
	Event   store.Event
	Body    session.Body
}

// history reads the session's own log.
type history struct{}

func (history) Spec() Spec {
	return Spec{
		Name: "History", Description: strings.TrimSpace(historyDescription), Effect: session.EffectRead,
		Schema: `{"type":"object","properties":{` +
			`"query":{"type":"string","description":"Words to look for"},` +
			`"act":{"type":"string","description":"A tool call, such as t3.s2.b1"},` +
			`"turn":{"type":"integer","description":"A turn, from 1"}}}`,
	}
}

func (history) Run(ctx context.Context, c Call, env Env) (Result, error) {
	in := parse(c)
	query, act, turn := strings.TrimSpace(in.text("query")), strings.TrimSpace(in.text("act")), in.number("turn", 0, 1, 1<<40)
	given := 0
	for _, is := range []bool{query != "", act != "", turn > 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		in.problem(`give one of "query", "act" and "turn"`)
	}
	if r := in.refusal(); r != nil {
		return *r, nil
	}
	if env.Log == nil {
		return failure("The log cannot be read here."), nil
	}
	seen, kind := &past{own: env.State.ID}, "act "+act
	switch {
	case query != "":
		seen.take, kind = seen.find(strings.ToLower(query)), fmt.Sprintf("%q", query)
	case act != "":
		seen.take = seen.call(session.BaseOf(act))
	default:
		seen.take, kind = seen.turn(int(turn)), fmt.Sprintf("turn %d", turn)
	}
	if err := seen.read(env.Log(ctx)); err != nil {
		return Result{}, err
	}
	return seen.result(kind, query != "", env), nil
}

// past is what is collected from the log.
type past struct {
	own    string
	at     int // turn that is read
	take   func(place, text string)
	pieces []string
	size   int
	left   int // pieces that were dropped
}

// read walks the log and hands each text to take, with the place where it stands.
func (p *past) read(log iter.Seq2[LogEntry, error]) error {
	for e, err := range log {
		if err != nil {
			return err
		}
		p.entry(e)
	}
	return nil
}

func (p *past) entry(e LogEntry) {
	place := fmt.Sprintf("event %d", e.Event.Seq)
	if e.Session != p.own {
		place += " of " + e.Session
	}
	switch b := e.Body.(type) {
	case *session.TurnStarted:
		p.at = b.N
	case *session.MessageReceived:
		p.take(place+", message", model.Text(b.Content))
	case *session.ModelResponded:
		if session.ForSummary(b.Act) {
			return
		}
		p.take(place+", reply "+session.BaseOf(b.Act), b.Prose())
		for i, bl := range b.Blocks {
			if bl.Type == model.BlockToolUse {
				p.take(fmt.Sprintf("%s, call %s", place, session.CallBase(b.Act, i)), bl.Name+" "+string(bl.Input))
			}
		}
	case *session.ToolFinished:
		p.take(place+", result of "+session.BaseOf(b.Act)+" ("+string(b.Outcome)+")", model.Text(b.Content))
	case *session.ToolUnknown:
		p.take(place+", result of "+session.BaseOf(b.Act)+" (unknown)", model.Text(b.Content))
	case *session.PlanEdited:
		p.take(place+", the user's change of the plan", string(b.Text))
	case *session.AwaitMet:
		p.take(place+", await "+b.ID, string(b.Text))
	default:
	}
}

// keep adds a piece within the bound; the oldest go first.
func (p *past) keep(piece string, most int) {
	p.pieces = append(p.pieces, piece)
	p.size += len(piece)
	for len(p.pieces) > 1 && p.size > most {
		p.size -= len(p.pieces[0])
		p.pieces = p.pieces[1:]
		p.left++
	}
}

// find collects the places where words stand.
func (p *past) find(query string) func(place, text string) {
	return func(place, text string) {
		i := strings.Index(strings.ToLower(text), query)
		if i < 0 || i > len(text) { // lowering may have changed lengths
			return
		}
		from := max(0, i-hitWidth/2)
		cut := strings.ToValidUTF8(text[from:min(len(text), i+len(query)+hitWidth/2)], "")
		p.keep(place+": "+strings.Join(strings.Fields(cut), " "), maxHits*2*hitWidth)
		if len(p.pieces) > maxHits {
			p.size -= len(p.pieces[0])
			p.pieces = p.pieces[1:]
			p.left++
		}
	}
}

// call collects what a tool call asked for and came to.
func (p *past) call(base string) func(place, text string) {
	return func(place, text string) {
		if strings.HasSuffix(place, ", call "+base) || strings.Contains(place, ", result of "+base+" (") {
			p.keep(place+":\n"+text, maxOfOneCall)
		}
	}
}

// turn collects all of a turn. Its prompt came before it began.
func (p *past) turn(n int) func(place, text string) {
	var prompt string
	return func(place, text string) {
		if strings.HasSuffix(place, ", message") && p.at < n {
			prompt = place + ":\n" + text
			return
		}
		if p.at != n || text == "" {
			return
		}
		if prompt != "" {
			p.keep(prompt, maxOfOneCall)
			prompt = ""
		}
		p.keep(place+":\n"+text, maxOfOneCall)
	}
}

// result words what was found; hits are listed the newest first.
func (p *past) result(what string, newestFirst bool, env Env) Result {
	if len(p.pieces) == 0 {
		return success("The log has nothing of %s.", what)
	}
	if newestFirst {
		for i, j := 0, len(p.pieces)-1; i < j; i, j = i+1, j-1 {
			p.pieces[i], p.pieces[j] = p.pieces[j], p.pieces[i]
		}
	}
	text := strings.Join(p.pieces, "\n")
	if p.left > 0 {
		text += fmt.Sprintf("\n[%d older ones are left out]", p.left)
	}
	if len(text) <= maxHistory {
		return success("%s", text)
	}
	r := success("%s", session.CutMiddle(text, maxHistory))
	r.Full = []byte(text)
	return r
}
