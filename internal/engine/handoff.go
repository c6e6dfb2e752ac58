package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// ErrNoHandoffs is wrapped by the error of a handoff where the engine has no place for documents.
var ErrNoHandoffs = errors.New("sessions leave no handoffs here")

// writeHandoff renders the handoff, keeps it in the log, and lays it down.
func (s *modelCalls) writeHandoff(ctx context.Context, do session.WriteHandoff) error {
	words, err := s.summaryAt(ctx, do.Reply)
	if err != nil {
		return err
	}
	return s.handOff(ctx, do, []byte(words))
}

func (s *modelCalls) handOff(ctx context.Context, do session.WriteHandoff, words []byte) error {
	b := &session.HandoffWritten{N: do.N, Why: do.Why, Words: words}
	to := s.eng.cfg.Documents
	if to == nil {
		return s.append(ctx, engineActor, b)
	}
	t, err := s.Transcript(ctx)
	if err != nil {
		return err
	}
	b.Text = to.Render(ctx, s.state.Copy(), t, string(words))
	if err := s.append(ctx, engineActor, b); err != nil {
		return err
	}
	to.Put(ctx, s.state.Copy(), b.Text)
	return nil
}

// Handoff writes a handoff: with words of the model, if limit is not 0 and it answers within it, else by rule.
func (s *Session) Handoff(ctx context.Context, why string, limit time.Duration) error {
	if s.eng.cfg.Documents == nil {
		return fmt.Errorf("session %s: %w", s.state.ID, ErrNoHandoffs)
	}
	newest := func() int64 {
		if s.state.Handoff == nil {
			return 0
		}
		return s.state.Handoff.Seq
	}
	before := newest()
	if limit > 0 && ctx.Err() == nil && s.state.Compaction == nil && s.state.Context.Replies > 0 && s.state.Lifecycle == session.LifecycleOpen {
		if err := s.append(ctx, engineActor, &session.HandoffRequested{Why: why}); err != nil {
			return err
		}
		bounded, cancel := context.WithTimeout(ctx, limit)
		err := s.CompactNow(bounded)
		cancel()
		if s.failed != nil {
			return err
		}
		if err != nil && !errors.Is(err, ErrParked) {
			s.eng.cfg.Log.Warn("the model was not asked for the words of a handoff", "session", s.state.ID, "error", err)
		}
		if newest() > before {
			return nil
		}
	}
	ctx = context.WithoutCancel(ctx)
	if c := s.state.Compaction; c != nil && c.Reason == session.ForHandoff {
		if err := s.dropSummary(ctx); err != nil {
			return err
		}
	}
	return s.writeHandoff(ctx, session.WriteHandoff{Why: why})
}

// dropSummary gives a call for a summary up that nobody waits for any more.
func (s *Session) dropSummary(ctx context.Context) error {
	if err := s.append(ctx, store.Actor{Type: store.ActorEngine}, &session.CancelRequested{Turn: noTurn}); err != nil {
		return err
	}
	return s.CompactNow(ctx)
}

// noTurn is no turn's number: only a compaction is cancelled by it.
const noTurn = -1
