package homes

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/view"
)

// AwaitViews lists what a session awaits, oldest first; never nil.
func AwaitViews(st *session.State) []view.Await {
	out := []view.Await{}
	for _, a := range st.Awaits {
		if a.Session != "" {
			continue // left to the session that it was forked from
		}
		v := view.Await{
			ID: a.ID, Event: string(a.Event), Task: a.Task, Pattern: a.Pattern, Note: a.Note, Text: tools.AwaitText(a),
			Since: view.Stamp(a.Set), At: view.Stamp(a.At), Gap: a.Gap,
		}
		if a.Event == session.AwaitLine {
			v.Looked = &a.Position
		}
		out = append(out, v)
	}
	return out
}

// Await makes a session's model be told of something, as if it had asked for that: a.Event with a.Task, a.Pattern,
// a.AfterMS and a.Note; a.From, if it is more than the model has read, is where lines count from. It returns the id. The
// intent is durable when it returns, and watched by whoever holds the session: [Home.Run] with Wait. Errors:
// engine.ErrRefused, store.ErrNotFound.
func (h *Home) Await(ctx context.Context, id string, a session.Await) (string, error) {
	before, err := h.store.Get(ctx, id)
	if err != nil {
		return "", err
	}
	a.Key = uuid.NewString()
	if err := h.Deliver(ctx, id, a.Key, &session.AwaitSet{Await: a}); err != nil {
		return "", err
	}
	for ev, err := range h.store.Read(ctx, id, before.Head.Seq+1, 0) {
		if err != nil {
			return "", err
		}
		if ev.Kind != session.KindAwaitSet {
			continue
		}
		body, err := session.Decode(ev)
		if err != nil {
			return "", err
		}
		if b, ok := body.(*session.AwaitSet); ok && b.Await.Key == a.Key {
			return b.Await.ID, nil
		}
	}
	return "", fmt.Errorf("session %s: the await that was accepted is not in its log", id)
}

// DropAwait takes back what is awaited; the model is told with its next request. Errors: engine.ErrRefused when that
// await is not open.
func (h *Home) DropAwait(ctx context.Context, id, await string) error {
	return h.Deliver(ctx, id, "", &session.AwaitDropped{ID: await})
}
