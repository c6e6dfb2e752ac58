package screen

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/cli/sessions"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/repo"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/internal/ui/transcript"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// stand is how the session stands.
func (l *link) stand(ctx context.Context, st *session.State) chat.Stand {
	l.mu.Lock()
	still, held := l.still, l.held
	l.mu.Unlock()
	s := chat.Stand{
		ID: st.ID, Title: l.title(ctx, st), Model: st.Agent.Provider + "/" + st.Agent.Model, Mode: st.Config.Mode, Branch: l.branch(),
		Used: st.Estimate(), Window: st.Agent.Window, Waits: len(session.Waits(st)), Over: st.Lifecycle.Over(),
		Cost: cost(st), Halted: halted(st, still),
	}
	stop, _ := st.Halt()
	s.Failed = stop != ""
	if st.Context.Replies == 0 {
		s.Used = 0
	}
	for _, t := range st.Tasks {
		if t.Status == command.Running {
			s.Tasks++
		}
	}
	if st.Turn != nil {
		s.Since = time.UnixMilli(st.Turn.Started)
		s.Working = session.ActivityOf(st) == session.Running && !still
	}
	if held == nil {
		s.Other = l.holder(ctx, &s)
	}
	if s.Working {
		s.Activity = doing(st)
	}
	return s
}

// holder names who holds a session that this process looks at.
func (l *link) holder(ctx context.Context, s *chat.Stand) string {
	info, err := l.home.Store().Get(ctx, s.ID)
	switch h := info.Holder; {
	case err != nil:
	case h == nil || h.Alive == store.Dead:
		s.Working, s.Nobody = false, true
		if s.Halted = "nobody runs this session: enter goes on with it here"; s.Over {
			s.Halted = ""
		}
		return ""
	default:
		who := fmt.Sprintf("pid %d on %s", h.PID, plain.Line(h.Host, 40))
		l.looking.Lock()
		defer l.looking.Unlock()
		if l.silent = l.silence.look(info, l.app.Now()); l.silent != "" {
			s.Working, s.Halted = false, who+" "+l.silent+": enter to fork or take over"
		}
		return who
	}
	return ""
}

// thinking is what the model does of which no words have come.
const thinking = "thinking"

// doing is what a session does in a word or two.
func doing(st *session.State) string {
	if c := st.NewestCall(); c != nil && c.Status == session.CallRequested {
		if session.ForSummary(c.ID) {
			return "summarizing"
		}
		return thinking
	}
	if f := st.Failure(); f != nil {
		return "waiting to try again"
	}
	for _, c := range st.Turn.Calls {
		if c.State == session.ActExecuting {
			return c.Tool
		}
	}
	return "working"
}

// cost is what the session has cost; empty: nothing yet, or nobody knows.
func cost(st *session.State) string {
	usd := float64(st.Spent) / 1e9
	switch {
	case st.Spent == 0:
		return ""
	case st.Unpriced > 0:
		return display.Money(&usd) + "+?"
	}
	return display.Money(&usd)
}

// branchEvery is how long a look at the branch lasts.
const branchEvery = 10 * time.Second

// branch is what is checked out in the directory of the session.
func (l *link) branch() string {
	now := l.app.Now()
	l.looking.Lock()
	defer l.looking.Unlock()
	if l.branched.IsZero() || now.Sub(l.branched) > branchEvery {
		l.branchName, l.branched = "", now
		if r, err := repo.Look(l.ctx, l.dir); err == nil { // without a repository there is no branch
			l.branchName = r.Branch
		}
	}
	return l.branchName
}

// goneBy says why a held session is no longer here.
func goneBy(err error) *chat.Gone {
	switch {
	case err == nil:
		return &chat.Gone{Text: "the session was given back: enter opens it again", Again: true}
	case errors.Is(err, store.ErrFenced):
		return &chat.Gone{Text: "another process has taken this session over: enter goes back to it", Again: true}
	case errors.Is(err, store.ErrFull):
		return &chat.Gone{Text: "the disk is full: free some space, then enter opens the session again", Err: err, Again: true}
	case errors.Is(err, store.ErrUncertain):
		return &chat.Gone{Text: "the disk did not confirm a write: leave, and open the session again", Err: err}
	case errors.Is(err, engine.ErrReleased):
		return &chat.Gone{Text: "the session was given back: enter opens it again", Again: true}
	}
	return &chat.Gone{Text: err.Error(), Err: err}
}

// report says in words what happened since the session was held last: what was left open, what ended, what changed.
func (l *link) report(ctx context.Context) (items []transcript.Item) {
	if l.held == nil {
		return nil
	}
	rec, err := l.held.Recovered(ctx)
	if err != nil {
		return nil
	}
	const most = 12
	for i, r := range rec {
		text := plain.Line(meanwhile(r), 1000)
		if i == most {
			text = fmt.Sprintf("and %d more; perdure show %s has the state", len(rec)-i, l.id)
		}
		items = append(items, transcript.Item{ID: fmt.Sprintf("meanwhile %d %s", i, newKey()), Kind: transcript.Note, Text: "meanwhile: " + text})
		if i == most {
			break
		}
	}
	return items
}

// meanwhile words one thing of the report.
func meanwhile(r view.Recovery) string {
	switch r.Kind {
	case "turn":
		return "the turn " + r.Text
	case "act", "model", "mode":
		return r.Text
	}
	return r.ID + ": " + r.Text
}

// title is the session's name, or the first words of its first prompt.
func (l *link) title(ctx context.Context, st *session.State) string {
	if st.Title != "" {
		return st.Title
	}
	l.looking.Lock()
	defer l.looking.Unlock()
	if l.first == "" {
		if info, err := l.home.Store().Get(ctx, st.ID); err == nil {
			l.first, _ = sessions.Known(view.Listing{Info: info})
		}
	}
	return l.first
}
