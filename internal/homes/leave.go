package homes

import (
	"context"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
)

// minSession is how long a session must have lasted to leave a handoff at its end.
func (h *Home) minSession() time.Duration {
	if h.cfg.MinSession == nil {
		return 15 * time.Minute
	}
	return *h.cfg.MinSession
}

// owes reports whether a session has something to hand off that no handoff has: it lasted long enough, and said more
// since. talks: and the model has not been asked for words for as long.
func (h *Home) owes(st *session.State, now time.Time) (owes, talks bool) {
	if h.cfg.Memory == "" || st.Config.Root == "" || st.Turns == 0 || now.Sub(time.UnixMilli(st.Created)) < h.minSession() {
		return false, false
	}
	old := st.Handoff
	if old == nil {
		return true, true
	}
	ended := st.LastTurn != nil && st.LastTurn.Seq > old.Seq
	return ended || st.Turns > old.Turns, now.Sub(time.UnixMilli(old.Said)) >= h.minSession()
}

// wordsLimit is how long a model is waited for that is asked for the words of a handoff.
const wordsLimit = 2 * time.Minute

// leave ends the work of a run: it writes a handoff if one is due. A model is asked only when nothing else is left to do,
// and not by somebody who has just cancelled a turn: that person wants no more of it.
func (h *Home) leave(ctx context.Context, s *engine.Session, parked bool) error {
	st := s.State()
	owes, talks := h.owes(st, h.cfg.Now())
	if !owes {
		h.putBack(ctx, st)
		return nil
	}
	limit := time.Duration(0)
	cancelled := st.LastTurn != nil && st.LastTurn.Stop == session.TurnCancelled
	if talks && !parked && !cancelled && st.Turn == nil && !overBudget(st) {
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
