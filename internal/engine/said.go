package engine

import (
	"context"
	"iter"

	"github.com/perdure/perdure/internal/lineage"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// saidBefore reads what came into the session, as of a state: of all that was read once for an earlier question, only what
// may repeat a claim.
func (s *world) saidBefore(st *session.State) func(context.Context, []string, func(int, lineage.From) bool) iter.Seq2[lineage.Said, error] {
	read := func(ctx context.Context, r session.Range) iter.Seq2[store.Event, error] {
		return s.eng.cfg.Store.Read(ctx, r.Session, r.From, r.To)
	}
	return func(ctx context.Context, claims []string, open func(int, lineage.From) bool) iter.Seq2[lineage.Said, error] {
		logs, err := s.eng.lineage(ctx, st)
		if err != nil {
			return func(yield func(lineage.Said, error) bool) { yield(lineage.Said{}, err) }
		}
		return s.past.Said(ctx, logs, read, claims, open)
	}
}
