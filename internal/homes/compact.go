package homes

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Compact asks for a compaction of a session's conversation: the model writes a summary, dwelling on focus if that is
// not empty, and requests hold that and the newest steps from then on. The log keeps everything. A session that nobody
// holds is compacted before Compact returns, unless an open turn waits for something; then, and if somebody holds it, it
// is compacted before its next model call. Errors: store.ErrNotFound, engine.ErrRefused when the model has not said
// anything yet, engine.ErrClosed.
func (h *Home) Compact(ctx context.Context, id, focus string) (view.Compaction, error) {
	out := view.Compaction{SessionID: id}
	before, err := h.State(ctx, id)
	if err != nil {
		return out, err
	}
	if err := h.Deliver(ctx, id, "", &session.CompactRequested{Focus: focus}); err != nil {
		return out, err
	}
	s, err := h.open(ctx, id, engine.Options{})
	if errors.Is(err, store.ErrHeld) {
		out.Why = "another process holds the session: it is compacted before its next model call"
		return out, nil
	}
	if err != nil {
		return out, err
	}
	if f := s.State().Failure(); f != nil && f.Rests { // asking again is trying again
		err = s.Resume(ctx, store.Actor{})
	}
	if err == nil {
		err = s.CompactNow(ctx)
	}
	st := s.State()
	tellCompaction(&out, before, st)
	if errors.Is(err, engine.ErrParked) {
		err = fmt.Errorf("session %s: %w", id, context.Cause(ctx))
	}
	if err != nil {
		return out, errors.Join(err, closeUnless(ctx, s, err))
	}
	return out, s.Close(ctx, "compacted")
}

// tellCompaction says what became of it.
func tellCompaction(c *view.Compaction, before, now *session.State) {
	o := now.Overlay
	if o != nil && (before.Overlay == nil || before.Overlay.N != o.N) {
		c.Done, c.N, c.By, c.Before, c.After = true, o.N, o.By, o.Before, o.After
		return
	}
	switch f := now.Failure(); {
	case f != nil && f.Rests:
		c.Why = fmt.Sprintf("the model gave no summary: %s: %s", f.Class, f.Message)
	case now.Turn != nil:
		c.Why = "a turn is open and does not call the model now: the session is compacted before its next model call"
	default:
		c.Why = "the session is " + string(now.Lifecycle)
	}
}
