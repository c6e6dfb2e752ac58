package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// maxRounds bounds how many actions are taken before the loop listens again.
const maxRounds = 10_000

// Run drains the inbox and reconciles until nothing can progress without outside input: the activity is idle or
// waiting. When ctx ends it parks: nothing is cancelled, ErrParked is returned, and a later Run settles what was under
// way and goes on.
func (s *Session) Run(ctx context.Context) error {
	return s.run(ctx, mode{turns: true, takes: forRun, rests: s.rests})
}

// run is the one loop: it takes what the mode takes, listens, and parks when it is stopped or fails.
func (s *Session) run(ctx context.Context, m mode) (err error) {
	s.awaiting.stopped, s.awaiting.asleep = false, false
	s.turning = m.turns
	defer func() { s.turning = false }()
	poll := time.NewTicker(s.eng.cfg.Poll)
	defer poll.Stop()
	defer s.stopChanges()
	defer func() {
		if err != nil {
			s.ground(errParked)
		}
	}()
	for {
		s.listen()
		if err := s.advance(ctx, m); err != nil {
			if s.failed == nil && ctx.Err() != nil {
				return ErrParked // what was cut short is whole in the log
			}
			return err
		}
		slow := s.awaiting.asleep
		s.awaiting.asleep = false
		if len(s.flights) == 0 && (!m.turns || s.awaiting.catching == 0) && m.rests() {
			return nil
		}
		s.pace(poll, slow)
		if err := s.hear(ctx, poll.C, m); err != nil {
			return err
		}
		if s.failed != nil {
			return s.failed
		}
	}
}

// hear waits for the next thing that happens, and does what it says.
func (s *Session) hear(ctx context.Context, poll <-chan time.Time, m mode) error {
	var wake <-chan time.Time
	if m.turns {
		wake = s.wake()
	}
	select {
	case <-ctx.Done():
		return ErrParked
	case l := <-s.landed:
		return s.land(ctx, l)
	case r := <-s.asked:
		r.done <- r.do()
	case <-wake:
		return s.fireTimers(ctx)
	case <-s.waker.woken:
	case <-s.elsewhere():
	case <-poll:
	}
	return nil
}

// elsewhere gives a channel that tells of what other processes do to a session that sleeps; nil while it is awake, when
// it looks often, or if the store cannot tell.
func (s *Session) elsewhere() <-chan struct{} {
	n, ok := s.eng.cfg.Store.(store.Notifier)
	switch {
	case !ok:
	case !s.awaiting.asleep:
		s.stopChanges()
	case s.changes == nil:
		s.changes, s.unwatch, _ = n.Changes(s.state.ID)
	}
	return s.changes
}

func (s *Session) stopChanges() {
	if s.unwatch != nil {
		s.unwatch()
		s.changes, s.unwatch = nil, nil
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
func (s *Session) advance(ctx context.Context, m mode) error {
	if m.turns {
		if err := s.Drain(ctx); err != nil {
			return err
		}
		if err := s.saveScans(ctx, false); err != nil {
			return err
		}
	}
	for range maxRounds {
		if err := ctx.Err(); err != nil {
			return err // a signal is heard between any two steps
		}
		if m.turns {
			if err := s.captureAct(ctx); err != nil {
				return err
			}
		}
		progressed, err := s.reconcile(ctx, m)
		if err != nil || !progressed {
			return err
		}
	}
	return fmt.Errorf("session %s: no end after %d actions", s.state.ID, maxRounds)
}

// reconcile compares what is wanted with what is in flight and takes the first step that brings them closer.
func (s *Session) reconcile(ctx context.Context, m mode) (progressed bool, err error) {
	if m.turns {
		s.watchAwaits()
	}
	actions := session.Next(s.state)
	wanted := make(map[string]session.Do, len(actions))
	for _, a := range actions {
		wanted[a.ID] = a.Do
	}
	if s.rests() {
		wanted[titleAct] = nil // it goes on while nothing else does
	}
	s.detachFlights() // before a cancel that came after
	for id, f := range s.flights {
		do, ok := wanted[id]
		if settle, isSettle := do.(session.Settle); !ok || isSettle && settle.Cancel {
			f.cancel()
		}
	}
	for i, a := range actions {
		if s.flights[a.ID] != nil || !s.performs(m, a.Do) || !ready(a, wanted) {
			continue
		}
		if unrelated(a.Do) {
			return true, s.performRow(ctx, actions[i:])
		}
		if progressed, err := s.perform(ctx, a); progressed || err != nil {
			return progressed, err
		}
	}
	return false, nil
}

func ready(a session.Action, wanted map[string]session.Do) bool {
	for _, id := range a.After {
		if _, outstanding := wanted[id]; outstanding {
			return false
		}
	}
	return true
}

// Cancel asks to end the open turn. What runs is stopped by the next Run.
func (s *Session) Cancel(ctx context.Context, actor store.Actor) error {
	return s.append(ctx, actor, &session.CancelRequested{})
}
