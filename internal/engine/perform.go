package engine

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// perform does what one action asks for: it appends, or logs the intent and starts the effect. It is the only place
// that does. False tells that there is nothing to do yet.
func (s *Session) perform(ctx context.Context, a session.Action) (bool, error) {
	switch do := a.Do.(type) {
	case session.StartTurn:
		return s.startTurn(ctx, a, do)
	case session.EndTurn:
		if err := s.captureTurn(ctx, a.Turn); err != nil {
			return false, err
		}
		return true, s.append(ctx, engineActor, &session.TurnEnded{N: a.Turn, Stop: do.Stop, Message: do.Message})
	case session.Decide:
		return true, s.decide(ctx, a, do.Call)
	case session.Conclude:
		return true, s.append(ctx, engineActor, concluded(a, do))
	case session.CallModel:
		return s.requestModel(ctx, a, do)
	case session.Summarize:
		return true, s.summarize(ctx, a, do)
	case session.Compact:
		return true, s.compact(ctx, do)
	case session.WriteHandoff:
		return true, s.writeHandoff(ctx, do)
	case session.Execute:
		// An act of this holder that is not in flight was parked by an earlier Run.
		if do.Call.State == session.ActExecuting {
			return true, s.settle(ctx, a, session.Settle{Call: do.Call})
		}
		if err := s.captureBefore(ctx, do.Call); err != nil {
			return false, err
		}
		return true, s.execute(ctx, a, do.Call)
	case session.Settle:
		return true, s.settle(ctx, a, do)
	case session.RestartTask:
		return s.restartTask(ctx, do)
	case session.StartTask:
		return true, s.startTask(a.ID, do)
	case session.KillTask:
		return true, s.killTask(ctx, a.ID, do)
	case session.WriteTask:
		return true, s.writeTask(ctx, a.ID, do)
	case session.MeetAwait:
		return true, s.meetAwait(ctx, do, false)
	case session.DropAwait:
		return true, s.dropAwait(ctx, do)
	case session.CaptureFiles:
		return true, s.makeCheckpoint(ctx, do.Ask)
	case session.RestoreFiles:
		return true, s.restoreFiles(ctx, do.Restore)
	case session.FinishRestore:
		return true, s.finishRestore(ctx, do.Restore)
	case session.Wake:
		return false, nil // the loop sleeps until then
	}
	return false, fmt.Errorf("session %s: nothing does %T (%s)", s.state.ID, a.Do, a.ID)
}

func (s *Session) startTurn(ctx context.Context, a session.Action, do session.StartTurn) (bool, error) {
	if do.Met && s.awaiting.stopped {
		return false, nil
	}
	if s.awaiting.serves && !do.Met {
		s.awaiting.stopped = false
	}
	s.looked = false
	return true, s.append(ctx, engineActor, &session.TurnStarted{N: a.Turn, Message: do.Message, Met: do.Met})
}

func (s *Session) requestModel(ctx context.Context, a session.Action, do session.CallModel) (bool, error) {
	if m := s.state.Turn.Model; m != nil && m.ID == a.ID && m.Status == session.CallRequested {
		return true, s.settleModel(ctx, a.ID)
	}
	if s.awaiting.catching > 0 {
		return false, nil // what has happened already goes with this request
	}
	return true, s.callModel(ctx, a, do)
}

func concluded(a session.Action, do session.Conclude) *session.ToolFinished {
	return &session.ToolFinished{Act: a.ID, Outcome: do.Outcome, Content: []model.Part{model.TextPart(do.Text)}}
}

// unrelated reports whether an action changes nothing that another one like it depends on: what is said about one call
// of a step is no other call's matter.
func unrelated(do session.Do) bool {
	switch do.(type) {
	case session.Decide, session.Conclude:
		return true
	default:
		return false
	}
}

// performRow performs unrelated actions that follow each other in one go.
func (s *Session) performRow(ctx context.Context, actions []session.Action) error {
	var ends []session.Body
	for _, a := range actions {
		if !unrelated(a.Do) || ctx.Err() != nil {
			break
		}
		if do, ok := a.Do.(session.Conclude); ok {
			ends = append(ends, concluded(a, do))
			continue
		}
		if _, err := s.perform(ctx, a); err != nil {
			return err
		}
	}
	return s.append(ctx, engineActor, ends...)
}
