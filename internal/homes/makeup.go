package homes

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// maxMadeUp bounds how many of the newest sessions of a directory are looked at when one begins there.
const maxMadeUp = 20

// makeUp does for the sessions in a directory, and in the project's root, what those that were killed could not do: of
// the newest one, of each whose holder died, and of those that never began. The oldest writes first, so that the newest
// handoff is that of the newest session.
func (h *Home) makeUp(ctx context.Context, dir string) {
	list, err := h.workedIn(ctx, dir)
	if err != nil {
		return // whoever lists sessions meets it again
	}
	slices.SortStableFunc(list, func(a, b store.Info) int { return cmp.Compare(b.Updated, a.Updated) })
	var owing []*session.State
	read := false // a newer session has read what lay there, or may have
	for i, info := range list {
		free, killed := info.Holder == nil, info.Holder != nil && info.Holder.Alive == store.Dead
		if !killed && !(free && (i == 0 || info.Heads.Turns == 0)) { // one without a turn was never held, perhaps
			read = true
			continue
		}
		st, err := h.State(ctx, info.ID)
		if err != nil {
			continue // whoever opens it meets it again
		}
		owes, _ := h.owes(st, time.UnixMilli(st.Updated))
		switch {
		case owes || st.Handoff != nil && !st.Handoff.Settled:
			owing = append(owing, st)
		case !read:
			h.putBack(ctx, st)
		}
		read = read || st.Handoff != nil || documents{h}.read(st) != ""
	}
	for _, st := range slices.Backward(owing) {
		h.makeUpFor(ctx, st)
	}
}

// workedIn lists the newest sessions of a directory, and of the project's root, whose knowledge is the same.
func (h *Home) workedIn(ctx context.Context, dir string) ([]store.Info, error) {
	page, err := h.store.List(ctx, store.Query{Cwd: dir, Limit: maxMadeUp})
	list := page.Sessions
	if root := knowledge.Root(dir); err == nil && root != dir {
		page, err = h.store.List(ctx, store.Query{Cwd: root, Limit: maxMadeUp})
		list = append(list, page.Sessions...)
	}
	return list, err
}

// makeUpFor writes what one session owes, and puts right what a death left half done.
func (h *Home) makeUpFor(ctx context.Context, st *session.State) {
	s, err := h.open(ctx, st.ID, engine.Options{})
	if err != nil {
		return // somebody holds it, and writes its own
	}
	at := time.UnixMilli(st.Updated)
	if owes, _ := h.owes(s.State(), at); owes {
		if err := s.Handoff(ctx, session.HandoffRendered, 0); err != nil {
			h.cfg.Log.Warn("the handoff of a session could not be written", "session", st.ID, "error", err)
		}
	}
	h.settle(ctx, s.State(), at)
	if err := s.Close(ctx, "handed off"); err != nil {
		h.cfg.Log.Warn("a session could not be given back", "session", st.ID, "error", err)
	}
}
