package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
)

// Patience is how long a live holder may take to accept what was sent. A healthy one looks every 100 ms.
const Patience = 10 * time.Second

// Deliver brings a body to a session; see [App.Within].
func (a *App) Deliver(ctx context.Context, h *homes.Home, id string, body session.Body) error {
	return a.Within(ctx, h, id, Patience, func(ctx context.Context) error { return h.Deliver(ctx, id, "", body) })
}

// Within waits only so long for a session's holder: it may be stopped, or wait for something itself. What was sent
// stays accepted and takes effect when the holder, or the next one, looks.
func (a *App) Within(ctx context.Context, h *homes.Home, id string, limit time.Duration, send func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := send(limited)
	if errors.Is(err, engine.ErrClosed) {
		if st, err := h.State(ctx, id); err == nil && st.Lifecycle.Over() {
			return IsOver(st)
		}
	}
	if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	e := &ExitError{
		Code: ExitHeld, Text: fmt.Sprintf("session %s is held, and its holder has not looked for %s", id, limit),
		Hint: "it is accepted and takes effect as soon as the holder looks, or is ended",
	}
	if info, err := h.Store().Get(ctx, id); err == nil && info.Holder != nil {
		e.Text = fmt.Sprintf("session %s is held by pid %d on %s, which has not looked for %s", id, info.Holder.PID, info.Holder.Host, limit)
	}
	return e
}

// IsOver says that a session takes nothing more, and what helps.
func IsOver(st *session.State) error {
	e := &ExitError{
		Code: ExitFailed, Text: fmt.Sprintf("session %s is %s: it takes no more turns", st.ID, st.Lifecycle),
		Hint: "a fork goes on where it ended: perdure -p --resume " + st.ID + " --fork-session",
	}
	if st.Lifecycle == session.LifecycleClosed {
		e.More = []string{"perdure reopen " + st.ID + " lets it take turns again"}
	}
	return e
}
