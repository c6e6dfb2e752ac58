package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// writeHandoff renders the handoff and keeps it in the log. What is written to a file later is this.
func (s *Session) writeHandoff(ctx context.Context, do session.WriteHandoff) error {
	words, err := s.summaryAt(ctx, do.Reply)
	if err != nil {
		return err
	}
	b := &session.HandoffWritten{N: do.N, Why: do.Why, Words: []byte(words)}
	if s.eng.cfg.Handoff != nil {
		t, err := s.Transcript(ctx)
		if err != nil {
			return err
		}
		if b.Text, err = s.eng.cfg.Handoff(ctx, s.state.Copy(), t, words); err != nil {
			return fmt.Errorf("session %s: write the handoff: %w", s.state.ID, err)
		}
	}
	return s.append(ctx, engineActor, b)
}

// Handoff writes a handoff: with words of the model, if limit is not 0 and it answers within it, else by rule.
func (s *Session) Handoff(ctx context.Context, why string, limit time.Duration) error {
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
		if err != nil && !errors.Is(err, ErrParked) {
			return err
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
