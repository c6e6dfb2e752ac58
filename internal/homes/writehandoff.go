package homes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// ErrNoMemory says that sessions of this home leave nothing to later ones.
var ErrNoMemory = errors.New("this home is opened without a memory")

// WriteHandoff writes a handoff of a session now, with words of the model if asks is set. If somebody holds the session,
// it is written before its next model call, and the text is empty. Errors: store.ErrNotFound, engine.ErrRefused when the
// model has not said anything yet.
func (h *Home) WriteHandoff(ctx context.Context, id string, asks bool) (text string, err error) {
	if h.cfg.Memory == "" {
		return "", fmt.Errorf("session %s: write a handoff: %w", id, ErrNoMemory)
	}
	s, err := h.open(ctx, id, engine.Options{})
	if errors.Is(err, store.ErrHeld) {
		return "", h.Deliver(ctx, id, "", &session.HandoffRequested{Why: session.HandoffAsked})
	}
	if err != nil {
		return "", err
	}
	if s.State().Turns == 0 {
		err := fmt.Errorf("session %s: %w: there is nothing to hand off yet", id, engine.ErrRefused)
		return "", errors.Join(err, s.Close(ctx, "error"))
	}
	limit := time.Duration(0)
	if asks {
		limit = wordsLimit
	}
	if err := s.Handoff(ctx, session.HandoffAsked, limit); err != nil {
		return "", errors.Join(err, closeUnless(ctx, s, err))
	}
	documents{h}.Save(ctx, s.State())
	text, err = h.HandedOff(ctx, s.State())
	return text, errors.Join(err, s.Close(ctx, "handed off"))
}

// HandedOff reads the newest handoff of a session from its log, to be shown; empty if there is none.
func (h *Home) HandedOff(ctx context.Context, st *session.State) (string, error) {
	text, err := h.handoffText(ctx, st)
	return strings.TrimSpace(string(text)), err
}

// handoffText is the same as it was written.
func (h *Home) handoffText(ctx context.Context, st *session.State) ([]byte, error) {
	if st.Handoff == nil {
		return nil, nil
	}
	body, err := h.eng.BodyAt(ctx, st.ID, st.Handoff.Seq)
	if w, ok := body.(*session.HandoffWritten); ok {
		return w.Text, nil
	}
	return nil, err
}

// Rest is called when a person has paused or closed a session: it leaves a handoff if one is due, without a model.
func (h *Home) Rest(ctx context.Context, id string) error {
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	if owes, _ := h.owes(st, h.cfg.Now()); !owes {
		return nil
	}
	s, err := h.open(ctx, id, engine.Options{})
	if errors.Is(err, store.ErrHeld) {
		return nil // its holder writes one at its end
	}
	if err != nil {
		return err
	}
	err = h.leave(ctx, s, true)
	return errors.Join(err, s.Close(ctx, "rested"))
}
