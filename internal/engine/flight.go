package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
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
	moved     chan<- session.Start // of a command: that it was sent to the background
	told      bool                 // by moved
}

// landing is what a flight reports to the loop: the events that say what happened, appended together, and what to do
// once they are durable.
type landing struct {
	id     string
	actor  store.Actor
	bodies []session.Body
	late   func() []session.Body // more bodies, put first, that need the state as of the landing
	then   func()
	free   func() // called in the end, also if nothing was appended: what the events name is held until then; may be nil
	err    error  // the machine is broken: Run ends with it
}

// request is work that a flight wants the loop to do.
type request struct {
	do   func() error
	done chan error
}

func (f *flight) cancel() {
	if !f.cancelled {
		f.cancelled = true
		f.stop(errCancelled)
	}
}

// fly starts an action's effect beside the loop. What it reports is appended by the loop.
func (s *effects) fly(id string, effect func(ctx context.Context) landing) {
	s.flyOnce(id, false, effect)
}

// flyOnce is fly for an effect that may know already that its turn is cancelled: it is not stopped for that again.
func (s *effects) flyOnce(id string, cancelled bool, effect func(ctx context.Context) landing) {
	ctx, stop := context.WithCancelCause(s.watchCtx)
	s.flights[id] = &flight{stop: stop, cancelled: cancelled}
	go func() {
		l := guarded(ctx, effect)
		l.id = id
		s.landed <- l
	}()
}

// guarded makes an error of a panic in somebody's code: the process has other sessions. What was under way is settled
// by the next holder.
func guarded(ctx context.Context, effect func(ctx context.Context) landing) (l landing) {
	defer func() {
		if cause := recover(); cause != nil {
			l = landing{err: fmt.Errorf("panic: %v\n%s", cause, debug.Stack())}
		}
	}()
	return effect(ctx)
}

// land appends what a flight reports.
func (s *effects) land(ctx context.Context, l landing) error {
	defer release(l.free)
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
func (s *effects) ground(cause error) {
	for _, f := range s.flights {
		f.stop(cause)
	}
	for len(s.flights) > 0 {
		l := <-s.landed
		release(l.free)
		delete(s.flights, l.id)
	}
}

// ask lets a flight have work done by the loop, which owns the state.
func (s *held) ask(ctx context.Context, do func() error) error {
	r := request{do: do, done: make(chan error, 1)}
	select {
	case s.asked <- r:
		return <-r.done
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
