package homes

import (
	"context"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
)

// minSession is how long the turns of a session must have taken for it to leave a handoff at its end.
func (h *Home) minSession() time.Duration {
	if h.cfg.MinSession == nil {
		return 15 * time.Minute
	}
	return *h.cfg.MinSession
}

// lasted reports whether a session has worked for so long that it leaves a handoff.
func (h *Home) lasted(st *session.State, now time.Time) bool {
	return h.cfg.Memory != "" && st.Config.Root != "" && st.Turns > 0 && st.WorkedBy(now.UnixMilli()) >= h.minSession().Milliseconds()
}

// owes reports whether a session has something to hand off that no handoff has: it lasted long enough, and came further
// since. talks: and the model has not been asked for words for as long.
func (h *Home) owes(st *session.State, now time.Time) (owes, talks bool) {
	old := st.Handoff
	if !h.lasted(st, now) || old != nil && !st.NewsSince(old) {
		return false, false
	}
	return true, old == nil || st.WorkedBy(now.UnixMilli())-old.Said >= h.minSession().Milliseconds()
}

// wordsLimit is how long a model is waited for that is asked for the words of a handoff.
const wordsLimit = 2 * time.Minute

// leave ends the work of a run: it writes a handoff if one is due. A model is asked only when nothing else is left to do,
// and not by somebody who has just cancelled a turn: that person wants no more of it.
func (h *Home) leave(ctx context.Context, s *engine.Session, parked bool) error {
	st := s.State()
	owes, talks := h.owes(st, h.cfg.Now())
	if !owes {
		h.settle(ctx, st, h.cfg.Now())
		return nil
	}
	limit := time.Duration(0)
	if talks && !parked && st.Turn == nil && !stopped(st) && !overBudget(st) {
		limit = wordsLimit
	}
	if err := s.Handoff(ctx, session.HandoffEnd, limit); err != nil {
		return err
	}
	h.conclude(ctx, s.State())
	return nil
}

// told does something the first time that it is asked for, by a name.
func (h *Home) told(name string, tell func()) {
	h.mu.Lock()
	known := h.said[name]
	if h.said == nil {
		h.said = map[string]bool{}
	}
	if len(h.said) < maxTold {
		h.said[name] = true
	}
	h.mu.Unlock()
	if !known {
		tell()
	}
}

// maxTold bounds what is remembered of that; beyond it, things are told again.
const maxTold = 1024

// settle makes sure of what a session that owes nothing leaves: whoever wrote its handoff may have died before it lay
// there. One without a handoff puts back what it began with.
func (h *Home) settle(ctx context.Context, st *session.State, now time.Time) {
	switch {
	case st.Handoff == nil:
		h.putBack(ctx, st)
	case st.Handoff.Settled || h.cfg.Memory == "" || st.Config.Root == "":
	default:
		text, err := h.handoffText(ctx, st)
		if err != nil {
			h.cfg.Log.Warn("the handoff of a session could not be read", "session", st.ID, "error", err)
			return
		}
		if len(text) > 0 {
			documents{h}.Put(ctx, st, text)
		}
		if h.lasted(st, now) {
			h.conclude(ctx, st)
		}
	}
}

// stopped reports that a person ended the newest turn: what they wait for then is the end.
func stopped(st *session.State) bool {
	return st.LastTurn != nil && st.LastTurn.Stop == session.TurnCancelled
}

func overBudget(st *session.State) bool {
	return st.Config.BudgetNano > 0 && st.Spent >= st.Config.BudgetNano
}

// putBack restores the handoff that a session began with and that it leaves no other in the place of: a short question
// must not end the thread.
func (h *Home) putBack(ctx context.Context, st *session.State) {
	digest := documents{h}.read(st)
	if digest == "" || h.cfg.Memory == "" || st.Handoff != nil {
		return
	}
	m, err := knowledge.Open(h.knows(st.Config.Root))
	if err == nil {
		err = m.Handoffs().PutBack(context.WithoutCancel(ctx), digest)
	}
	if err != nil {
		h.cfg.Log.Warn("the handoff that the session began with stays in the history", "session", st.ID, "error", err)
	}
}
