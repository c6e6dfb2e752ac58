package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perdure/perdure/session"
)

// Why a flight is stopped.
var (
	errCancelled = errors.New("cancelled by user")
	errParked    = errors.New("parked")
)

// ErrParked tells that Run stopped because its context ended: the turn stays open, commands run on.
var ErrParked = errParked

// flight is an action's effect under way.
type flight struct {
	stop      context.CancelCauseFunc
	cancelled bool
}

// landing is what a flight reports to the loop: the events that say what happened, appended together, and what to do
// once they are durable.
type landing struct {
	id     string
	actor  session.Actor
	bodies []session.Body
	late   func() []session.Body // more bodies, put first, that need the state as of the landing
	then   func()
	err    error // the machine is broken: Run ends with it
}

// request is work that a flight wants the loop to do.
type request struct {
	do   func() error
	done chan error
}

// maxRounds bounds how many actions are taken before the loop listens again.
const maxRounds = 10_000

// Run drains the inbox and reconciles until nothing can progress without outside input: the activity is idle or
// waiting. When ctx ends it parks: nothing is cancelled, ErrParked is returned, and a later Run settles what was under
// way and goes on.
func (s *Session) Run(ctx context.Context) error {
	return s.run(ctx, func() bool { return session.ActivityOf(s.state) != session.Running })
}

func (s *Session) run(ctx context.Context, done func() bool) error {
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
		if len(s.flights) == 0 && done() {
			return nil
		}
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
	for range len(s.watched) + 1 {
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
	for range maxRounds {
		progressed, err := s.reconcile(ctx)
		if err != nil || !progressed {
			return err
		}
	}
	return fmt.Errorf("session %s: no end after %d actions", s.state.ID, maxRounds)
}

// reconcile compares what is wanted with what is in flight and takes the first step that brings them closer.
func (s *Session) reconcile(ctx context.Context) (progressed bool, err error) {
	actions := session.Next(s.state)
	wanted := make(map[string]session.Do, len(actions))
	for _, a := range actions {
		wanted[a.ID] = a.Do
	}
	for id, f := range s.flights {
		do, ok := wanted[id]
		if settle, isSettle := do.(session.Settle); !ok || isSettle && settle.Cancel {
			f.cancel()
		}
	}
	for _, a := range actions {
		if s.flights[a.ID] != nil || !ready(a, wanted) {
			continue
		}
		if progressed, err := s.take(ctx, a); progressed || err != nil {
			return progressed, err
		}
	}
	return false, nil
}

func (f *flight) cancel() {
	if !f.cancelled {
		f.cancelled = true
		f.stop(errCancelled)
	}
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
		return true, s.append(ctx, engineActor, &session.TurnStarted{N: a.Turn, Message: do.Message})
	case session.EndTurn:
		return true, s.append(ctx, engineActor, &session.TurnEnded{N: a.Turn, Stop: do.Stop, Message: do.Message})
	case session.Conclude:
		return true, s.append(ctx, engineActor, &session.ToolFinished{
			Act: a.ID, Outcome: do.Outcome, Content: []session.Part{session.TextPart(do.Text)},
		})
	case session.Decide:
		return true, s.decide(ctx, a, do.Call)
	case session.CallModel:
		if m := s.state.Turn.Model; m != nil && m.ID == a.ID && m.Status == session.CallRequested {
			return true, s.settleModel(ctx)
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
	case session.KillTask:
		s.killTask(a.ID, do)
		return true, nil
	case session.Wake:
	}
	return false, nil
}

// fly starts an action's effect beside the loop. What it reports is appended by the loop.
func (s *Session) fly(id string, effect func(ctx context.Context) landing) {
	s.flyOnce(id, false, effect)
}

// flyOnce is fly for an effect that may know already that its turn is cancelled: it is not stopped for that again.
func (s *Session) flyOnce(id string, cancelled bool, effect func(ctx context.Context) landing) {
	ctx, stop := context.WithCancelCause(s.watchCtx)
	s.flights[id] = &flight{stop: stop, cancelled: cancelled}
	go func() {
		l := effect(ctx)
		l.id = id
		s.landed <- l
	}()
}

// land appends what a flight reports.
func (s *Session) land(ctx context.Context, l landing) error {
	if f := s.flights[l.id]; f != nil {
		f.stop(nil)
		delete(s.flights, l.id)
	}
	if l.err != nil {
		return l.err
	}
	if l.late != nil {
		l.bodies = append(l.late(), l.bodies...)
	}
	if err := s.append(ctx, l.actor, l.bodies...); err != nil {
		return err
	}
	if l.then != nil {
		l.then()
	}
	return nil
}

// ground stops all flights and waits for them. What they report is not appended: the next holder settles it. A flight
// that asks for something gives up, because its context has ended; whoever watches a task waits for the next Run.
func (s *Session) ground(cause error) {
	for _, f := range s.flights {
		f.stop(cause)
	}
	for len(s.flights) > 0 {
		l := <-s.landed
		delete(s.flights, l.id)
	}
}

// ask lets a flight have work done by the loop, which owns the state.
func (s *Session) ask(ctx context.Context, do func() error) error {
	r := request{do: do, done: make(chan error, 1)}
	select {
	case s.asked <- r:
		return <-r.done
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wake returns a channel that fires when the earliest wake-up is due; nil if there is none.
func (s *Session) wake() <-chan time.Time {
	now := s.eng.cfg.Now().UnixMilli()
	earliest := int64(-1)
	for _, a := range session.Next(s.state) {
		if w, ok := a.Do.(session.Wake); ok {
			if left := s.until(a.ID, w, now); earliest < 0 || left < earliest {
				earliest = left
			}
		}
	}
	if earliest < 0 {
		return nil
	}
	return time.After(time.Duration(earliest) * time.Millisecond)
}

// until is how long a wake-up is still away, in milliseconds. A retry that is further away than any delay was put there
// by a clock that has been set back since: it is due.
func (s *Session) until(id string, w session.Wake, now int64) int64 {
	left := max(0, w.At-now)
	if t := s.state.Turn; t != nil && t.Model != nil && id == session.WakeID(t.Model.ID) && left > longestAsked.Milliseconds() {
		return 0
	}
	return left
}

// fireTimers appends timer.fired for every wake-up whose time has come.
func (s *Session) fireTimers(ctx context.Context) error {
	now := s.eng.cfg.Now().UnixMilli()
	var fired []session.Body
	for _, a := range session.Next(s.state) {
		if w, ok := a.Do.(session.Wake); ok && s.until(a.ID, w, now) == 0 {
			fired = append(fired, &session.TimerFired{ID: a.ID})
		}
	}
	return s.append(ctx, engineActor, fired...)
}

// Cancel asks to end the open turn. What runs is stopped by the next Run.
func (s *Session) Cancel(ctx context.Context, actor session.Actor) error {
	return s.append(ctx, actor, &session.CancelRequested{})
}
