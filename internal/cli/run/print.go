package run

import (
	"context"
	"sync"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/output"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// maxReport bounds the lines that tell what a resume found.
const maxReport = 8

// printer words a run: on stdout in the shape that was asked for, on stderr what a person should know. Deltas come from
// another goroutine than events.
type printer struct {
	app   *app.App
	mu    sync.Mutex
	out   output.Shape
	bare  bool        // stdout has all: stderr need not name what it waits for
	named bool        // stdout names the session first
	tells bool        // what an act that nobody can tell the outcome of has done to files is its person's matter
	piped int         // bytes of stdin that went with the prompt
	home  *homes.Home // to look up the calls that wait
	asker *asker      // asks about them at this terminal; nil: nobody is there

	handing bool // the model is asked for the words of a handoff
	over    bool // the outcome was written: it stays the last thing on stdout
}

func newPrinter(a *app.App, f *Flags, prompt string, piped int) *printer {
	stream := f.format == output.Stream
	return &printer{
		app: a, out: output.New(a, f.format, f.verbose, prompt), bare: stream, named: stream || f.format == output.Claude || f.format == output.Text && a.Screen, piped: piped,
	}
}

// opened announces the session, so that it can be found while it runs.
func (p *printer) opened(st *session.State, resumed bool, words func(int64) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Opened(st, resumed, words)
	p.tells = st.Config.OnLost != session.OnLostKeep && st.Config.OnLost != session.OnLostRollback && !st.Workspace.Tree.IsZero()
	switch {
	case !p.named && p.piped > 0:
		p.app.Note("session %s, with %s of stdin", st.ID, display.Bytes(int64(p.piped)))
	case !p.named:
		p.app.Note("session %s", st.ID)
	case p.piped > 0 && !p.bare:
		p.app.Note("the prompt has %s of stdin", display.Bytes(int64(p.piped)))
	}
	if left := leftBehind(st); !resumed && left != "" {
		p.app.Note("goes on from %s, which an earlier session left; --handoff ignore begins without it", left)
	}
}

// lost says how what an act may have done to files is taken back, of which nobody can tell.
func (p *printer) lost(u engine.Update, b *session.ToolUnknown) {
	if !p.tells || u.Event == nil {
		return
	}
	p.app.Note("nobody can tell what %s has done: it was interrupted", b.Act)
	if b.Asks != nil {
		p.app.Hint("perdure diff %s %d shows what has changed in files since before it", u.Session, u.Event.Seq)
		return
	}
	p.app.Hint("perdure restore %s %d --files takes back what it did to files, once the turn rests; --on-lost rollback does so by itself", u.Session, u.Event.Seq)
}

// leftBehind is the handoff that a session began with; empty: there was none.
func leftBehind(st *session.State) string {
	for _, g := range st.Given {
		if g.Name == session.GivenHandoff {
			return g.Path
		}
	}
	return ""
}

// observe shows events and deltas as they come.
func (p *printer) observe(u engine.Update) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.out.Observe(u)
	}
	switch b := u.Body.(type) {
	case *session.ModelFailed:
		p.retrying(b) // on stderr, for people and logs alike; the view has ended its line
	case *session.ToolUnknown:
		p.lost(u, b)
	case *session.Compacted:
		if !p.app.Screen {
			p.app.Note("compacted: %s → about %s tokens", display.Grouped(b.TokensBefore), display.Grouped(b.TokensAfter))
		}
	case *session.ModelRequested:
		if b.Purpose == session.PurposeSummary && b.Reason != session.ForHandoff && !p.app.Screen {
			p.app.Note("the conversation is compacted: the model writes a summary")
		}
	case *session.HandoffWritten:
		p.handing = false
	case *session.HandoffRequested:
		p.handing = true
		p.app.Note("the model writes a handoff for the next session; Ctrl-C leaves its words out")
	default:
	}
}

func (p *printer) turnEnded(t view.Turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.TurnEnded(t)
}

// asleep tells that a run with --wait goes to sleep, and what wakes it. The turn's words come now: their reader need not
// wait for the next one.
func (p *printer) asleep(r *view.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out.Asleep(r)
	if p.bare {
		return
	}
	if len(r.Waiting) > 0 {
		waits := p.waiting(r, p.asker != nil)
		if len(waits) < len(r.Waiting) || p.asker == nil {
			p.app.Hint("this process sleeps until then, and goes on")
		}
		if p.asker != nil && len(waits) > 0 {
			p.asker.ask(context.Background(), waits)
		}
	}
	if len(r.Awaits) > 0 {
		p.app.Note("session %s sleeps until it can tell:", r.SessionID)
		p.list(r)
	}
}

// result prints the outcome: to stdout what was asked for, to stderr what a person should know.
func (p *printer) result(r *view.Result, resumed, runsOn bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if resumed {
		p.report(r)
	}
	p.out.Result(r)
	p.over = true
	p.stop(r, runsOn)
	p.awaits(r)
}

// report tells what resuming found, in at most eight lines.
func (p *printer) report(r *view.Result) {
	for i, rec := range r.Recovered {
		if i == maxReport-1 && len(r.Recovered) > maxReport {
			p.app.Hint("and %d more; perdure show %s has the state", len(r.Recovered)-i, p.call(r))
			return
		}
		p.app.Hint("resumed: %s %s: %s", rec.Kind, display.Line(rec.ID, 500), display.Line(rec.Text, 500))
		p.app.QuoteOutput(rec.Output)
	}
}

// stop says why the run stopped, and how to go on.
func (p *printer) stop(r *view.Result, runsOn bool) {
	a := p.app
	switch r.StopReason {
	case session.TurnEndTurn:
	case session.TurnNone:
		a.Note("session %s: there is no interrupted turn", r.SessionID)
	case session.TurnWaitingApproval, session.TurnWaitingAnswer:
		p.waiting(r, false)
		a.Hint("then: perdure -p --resume %s", p.call(r))
	case session.TurnMaxSteps, session.TurnMaxBudget:
		p.limited(r)
	case session.TurnContextLimit:
		if r.Failure == nil {
			p.limited(r)
			return
		}
		p.failed(r)
	case session.TurnCancelled:
		a.Note("session %s: the turn was cancelled", r.SessionID)
	case session.TurnParked:
		if r.Message != "" { // somebody paused or closed it while it ran
			a.Note("session %s stopped: %s; the turn stays open", r.SessionID, r.Message)
			return
		}
		a.Note("session %s is parked: the turn stays open%s", r.SessionID, map[bool]string{true: " and its command runs on"}[runsOn])
		a.Hint("perdure -p --resume %s goes on", p.call(r))
	default:
		p.failed(r)
	}
}
