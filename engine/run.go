package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/perdure/perdure/session"
)

// maxRounds bounds how many actions are taken before the loop listens again.
const maxRounds = 10_000

// Run drains the inbox and reconciles until nothing can progress without outside input: the activity is idle or
// waiting. When ctx ends it parks: nothing is cancelled, ErrParked is returned, and a later Run settles what was under
// way and goes on.
func (s *Session) Run(ctx context.Context) error {
	return s.run(ctx, s.rests)
}

func (s *Session) run(ctx context.Context, done func() bool) error {
	s.awaiting.stopped, s.awaiting.asleep = false, false
	poll := time.NewTicker(s.eng.cfg.Poll)
	defer poll.Stop()
	for {
		s.listen()
		if err := s.advance(ctx); err != nil {
			s.ground(errParked)
			if s.failed == nil && ctx.Err() != nil {
				return ErrParked // what was cut short is whole in the log
			}
			return err
		}
		slow := s.awaiting.asleep
		s.awaiting.asleep = false
		if len(s.flights) == 0 && s.awaiting.catching == 0 && done() {
			return nil
		}
		s.pace(poll, slow)
		wake := s.wake()
		select {
		case <-ctx.Done():
			s.ground(errParked)
			return ErrParked
		case l := <-s.landed:
			if err := s.land(ctx, l); err != nil {
				s.ground(errParked)
				return err
			}
		case r := <-s.asked:
			r.done <- r.do()
		case <-wake:
			if err := s.fireTimers(ctx); err != nil {
				s.ground(errParked)
				return err
			}
		case <-s.waker.woken:
		case <-poll.C:
		}
		if s.failed != nil {
			s.ground(errParked)
			return s.failed
		}
	}
}

// listen does what is asked for already, so that news from between two runs come before what they are news for.
func (s *Session) listen() {
	for range len(s.watched) + len(s.awaiting.watches) + 1 {
		select {
		case r := <-s.asked:
			r.done <- r.do()
		default:
			return
		}
	}
}

// advance drains the inbox and takes actions until every one is in flight, waits or is done.
func (s *Session) advance(ctx context.Context) error {
	if err := s.Drain(ctx); err != nil {
		return err
	}
	if err := s.saveScans(ctx, false); err != nil {
		return err
	}
	for range maxRounds {
		if err := ctx.Err(); err != nil {
			return err // a signal is heard between any two steps
		}
		progressed, err := s.reconcile(ctx)
		if err != nil || !progressed {
			return err
		}
	}
	return fmt.Errorf("session %s: no end after %d actions", s.state.ID, maxRounds)
}

// reconcile compares what is wanted with what is in flight and takes the first step that brings them closer.
func (s *Session) reconcile(ctx context.Context) (progressed bool, err error) {
	s.watchAwaits()
	actions := session.Next(s.state)
	wanted := make(map[string]session.Do, len(actions))
	for _, a := range actions {
		wanted[a.ID] = a.Do
	}
	s.detachFlights() // before a cancel that came after
	for id, f := range s.flights {
		do, ok := wanted[id]
		if settle, isSettle := do.(session.Settle); !ok || isSettle && settle.Cancel {
			f.cancel()
		}
	}
	for i, a := range actions {
		if s.flights[a.ID] != nil || !ready(a, wanted) {
			continue
		}
		if unrelated(a.Do) {
			return true, s.takeRow(ctx, actions[i:])
		}
		if progressed, err := s.take(ctx, a); progressed || err != nil {
			return progressed, err
		}
	}
	return false, nil
}

// unrelated reports whether an action changes nothing that another one like it depends on: what is said about one call
// of a step is no other call's matter.
func unrelated(do session.Do) bool {
	switch do.(type) {
	case session.Decide, session.Conclude:
		return true
	}
	return false
}

// takeRow takes unrelated actions that follow each other in one go.
func (s *Session) takeRow(ctx context.Context, actions []session.Action) error {
	var concluded []session.Body
	for _, a := range actions {
		if !unrelated(a.Do) || ctx.Err() != nil {
			break
		}
		if do, ok := a.Do.(session.Conclude); ok {
			concluded = append(concluded, &session.ToolFinished{
				Act: a.ID, Outcome: do.Outcome, Content: []session.Part{session.TextPart(do.Text)},
			})
			continue
		}
		if _, err := s.take(ctx, a); err != nil {
			return err
		}
	}
	return s.append(ctx, engineActor, concluded...)
}

func ready(a session.Action, wanted map[string]session.Do) bool {
	for _, id := range a.After {
		if _, outstanding := wanted[id]; outstanding {
			return false
		}
	}
	return true
}

// take does what an action asks for: appends, or logs the intent and starts the effect.
func (s *Session) take(ctx context.Context, a session.Action) (bool, error) {
	switch do := a.Do.(type) {
	case session.StartTurn:
		if do.Met && s.awaiting.stopped {
			return false, nil
		}
		s.looked = false
		return true, s.append(ctx, engineActor, &session.TurnStarted{N: a.Turn, Message: do.Message, Met: do.Met})
	case session.EndTurn:
		return true, s.append(ctx, engineActor, &session.TurnEnded{N: a.Turn, Stop: do.Stop, Message: do.Message})
	case session.Decide:
		return true, s.decide(ctx, a, do.Call)
	case session.CallModel:
		if m := s.state.Turn.Model; m != nil && m.ID == a.ID && m.Status == session.CallRequested {
			return true, s.settleModel(ctx)
		}
		if s.awaiting.catching > 0 {
			return false, nil // what has happened already goes with this request
		}
		return true, s.callModel(ctx, a, do)
	case session.Execute:
		// An act of this holder that is not in flight was parked by an earlier Run.
		if do.Call.State == session.ActExecuting {
			return true, s.settle(ctx, a, session.Settle{Call: do.Call})
		}
		return true, s.execute(ctx, a, do.Call)
	case session.Settle:
		return true, s.settle(ctx, a, do)
	case session.RestartTask:
		return s.restartTask(ctx, do)
	case session.MeetAwait, session.DropAwait:
		return true, s.settleAwait(ctx, a, false)
	}
	return s.tend(ctx, a)
}

// Cancel asks to end the open turn. What runs is stopped by the next Run.
func (s *Session) Cancel(ctx context.Context, actor session.Actor) error {
	return s.append(ctx, actor, &session.CancelRequested{})
}
