package engine

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Append adds events of the caller's own to the log, in one commit: for programs that keep a session without this
// engine's loop. [Session.Head] is the log's head then. What does not fit the session is refused whole, with an error
// that wraps session.ErrUnfit, before anything is written: what Append acknowledges is in the state. So is a command,
// an input, a name or a rule that holds a known secret: the log would have other words. Errors besides: ErrReleased,
// and those of the store.
func (s *Session) Append(ctx context.Context, actor store.Actor, bodies ...session.Body) error {
	err := session.CheckNil(bodies...)
	if err != nil {
		return fmt.Errorf("session %s: append: %w", s.state.ID, err)
	}
	var actors []store.Actor
	var all []session.Body
	for _, b := range bodies {
		if q, ok := b.(*session.QuestionAnswered); ok {
			if c := s.state.Call(q.Act); c != nil && c.Lost() {
				if err := s.admitLost(c, q); err != nil {
					return fmt.Errorf("session %s: append: %w: %w", s.state.ID, session.ErrUnfit, err)
				}
			}
		}
		then, more := s.decided(actor, b)
		actors, all = append(append(actors, actor), then...), append(append(all, b), more...)
	}
	return s.appendBatch(ctx, actors, all, store.Batch{}, true)
}

// Head is the newest event of the log and its hash, as of the last append.
func (s *Session) Head() store.Head { return s.state.Head }

// Interrupt asks to end the open turn. Unlike Cancel it may be called from another goroutine while Run runs.
func (s *Session) Interrupt(ctx context.Context, actor store.Actor) error {
	return s.ask(ctx, func() error {
		s.awaiting.stopped = true
		if s.state.Turn == nil && s.state.Compaction == nil || s.awaiting.waits && s.rests() { // asleep: only the sleep ends
			return nil
		}
		return s.append(ctx, actor, &session.CancelRequested{})
	})
}

// TendTasks does what was asked for about tasks and files, and nothing else: it starts and ends tasks, writes to them,
// makes one of a command that was sent to the background, notes what became of awaits, makes checkpoints, and restores
// files, also what an earlier holder has begun of that.
func (s *Session) TendTasks(ctx context.Context) error {
	return s.run(ctx, mode{takes: forTending, rests: always})
}

// SettleLeft finds out what became of what an earlier holder left open of a turn, captures the files as it left them, and
// starts nothing. A command that runs goes on: nothing is known of it yet.
func (s *Session) SettleLeft(ctx context.Context) error {
	if err := s.run(ctx, mode{takes: ofSettling, over: true, rests: always}); err != nil {
		return err
	}
	return s.captureAct(ctx)
}

// RestoreTasks is TendTasks, and runs those tasks again that a reboot took and that a human granted it to. What came of
// it is in Recovered.
func (s *Session) RestoreTasks(ctx context.Context) error {
	if err := s.Drain(ctx); err != nil { // somebody may have asked for the end of one
		return err
	}
	return s.run(ctx, mode{takes: forRestore, rests: always})
}

func always() bool { return true }
