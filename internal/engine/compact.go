package engine

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/window"
	"github.com/perdure/perdure/store"
)

// summarize asks the model for the summary of a compaction; where there is nothing to summarize, it compacts at once.
func (s *modelCalls) summarize(ctx context.Context, a session.Action, do session.Summarize) error {
	if m := s.state.ModelCall(a.ID); m != nil && m.Status == session.CallRequested {
		return s.settleModel(ctx, a.ID) // of this holder, parked by an earlier Run
	}
	t, err := s.Transcript(ctx)
	if err != nil {
		return err
	}
	if do.Reason != session.ForHandoff && !window.Summarizes(s.state, t, do.Reason) {
		return s.compact(ctx, session.Compact{N: do.N, Reason: do.Reason, Focus: do.Focus})
	}
	provider, err := s.provider()
	if err != nil {
		return err
	}
	req := s.request(a.ID, window.Request(s.state, t, do.Rung, do.Focus))
	req.MaxTokens, req.NoTools = window.SummaryTokens(s.state), true
	prefix, err := provider.Prefix(req)
	if err != nil {
		return fmt.Errorf("session %s: render request: %w", s.state.ID, err)
	}
	err = s.append(ctx, engineActor, &session.ModelRequested{
		Act: a.ID, Turn: a.Turn, Attempt: do.Attempt, Epoch: s.lease.Epoch, Model: s.modelName(),
		Purpose: session.PurposeSummary, Reason: do.Reason, Rung: do.Rung,
		Through: s.state.Head.Seq, Prefix: prefix, MaxTokens: req.MaxTokens, Estimate: s.state.Estimate(),
	})
	if err != nil {
		return err
	}
	s.flyCall(a.ID, provider, req)
	return nil
}

// compact puts the overlay over the conversation. The summary is read from the log: what is not sealed there is none.
func (s *modelCalls) compact(ctx context.Context, do session.Compact) error {
	ask := window.Ask{N: do.N, Level: do.Level, Reason: do.Reason, Focus: do.Focus}
	var err error
	if ask.Summary, err = s.summaryAt(ctx, do.Reply); err != nil {
		return err
	}
	t, err := s.Transcript(ctx)
	if err != nil {
		return err
	}
	c := window.Compact(s.state, t, ask)
	if c == nil {
		return fmt.Errorf("session %s: compaction %d: the conversation has no reply to cut at", s.state.ID, do.N)
	}
	if s.eng.cfg.Documents != nil && do.Level == session.LevelWhole { // the same words serve the next session
		if err := s.handOff(ctx, session.WriteHandoff{Why: session.HandoffCompact}, []byte(ask.Summary)); err != nil {
			return err
		}
	}
	return s.append(ctx, engineActor, c)
}

// summaryAt reads the words of a sealed summary; seq 0 has none.
func (s *held) summaryAt(ctx context.Context, seq int64) (string, error) {
	if seq == 0 {
		return "", nil
	}
	body, err := s.eng.BodyAt(ctx, s.state.ID, seq)
	if reply, ok := body.(*session.ModelResponded); ok {
		return reply.Prose(), nil
	}
	return "", err
}

// BodyAt reads what an event of a session says. Errors: store.ErrNotFound.
func (e *Engine) BodyAt(ctx context.Context, id string, seq int64) (session.Body, error) {
	for ev, err := range e.cfg.Store.Read(ctx, id, seq, seq) {
		if err != nil {
			return nil, fmt.Errorf("session %s: read event %d: %w", id, seq, err)
		}
		body, err := session.Decode(ev)
		if err != nil {
			return nil, fmt.Errorf("session %s: read event %d: %w", id, seq, err)
		}
		return body, nil
	}
	return nil, fmt.Errorf("session %s: event %d: %w", id, seq, store.ErrNotFound)
}

// CompactNow carries a compaction out that was asked for, as far as it can be done before the next model call, and
// does nothing else.
func (s *Session) CompactNow(ctx context.Context) error {
	rests := func() bool {
		for _, a := range session.Next(s.state) {
			if s.subjectOf(a.Do) == ofSummary || s.waitsForSummary(a) {
				return false
			}
		}
		return true
	}
	return s.run(ctx, mode{turns: true, takes: forCompact, rests: rests})
}

// waitsForSummary reports whether an action is the wake-up for the next attempt of the call for a summary.
func (s *modelCalls) waitsForSummary(a session.Action) bool {
	c := s.state.Compaction
	return c != nil && c.Model != nil && a.ID == session.WakeID(c.Model.ID)
}
