package homes

import (
	"context"
	"errors"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// AppendOptions say how events are appended by [Home.Append].
type AppendOptions = engine.FreeAppend

// Shared returns the values of a scope that the home's sessions share, by key: an application's, a user's. They are set
// by [AppendOptions], in the same commit as the events that they come with.
func (h *Home) Shared(ctx context.Context, scope string) (map[string][]byte, error) {
	return h.store.Shared(ctx, scope)
}

// Append adds events of a program's own to a session, in one commit, and returns the head then. Nobody need hold the
// session, and nobody does afterwards: programs that only write now and then need no lease, and those of several
// processes come one after the other. What does not fit the session is refused whole: session.ErrUnfit. Other errors:
// *store.HeldError if a living process holds it, store.ErrConflict if a head is expected, store.ErrKeyReused,
// store.ErrNotFound, store.ErrUncertain.
func (h *Home) Append(ctx context.Context, id string, opt AppendOptions, actor store.Actor, bodies ...session.Body) (store.Head, error) {
	head, err := h.eng.AppendFree(ctx, id, opt, actor, bodies...)
	var held *store.HeldError
	if !errors.As(err, &held) || held.Holder.Alive != store.Dead {
		return head, err
	}
	s, err := h.open(ctx, id, Options{}) // what the dead one left is settled first
	if err != nil {
		return head, err
	}
	if err := s.Close(ctx, "freed"); err != nil {
		return head, err
	}
	return h.eng.AppendFree(ctx, id, opt, actor, bodies...)
}
