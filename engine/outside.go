package engine

import (
	"context"

	"github.com/perdure/perdure/session"
)

// Append adds events of the caller's own to the log: for programs that keep a session without this engine's loop.
// What it appends must make sense to the fold, or it is noted as a fault.
func (s *Session) Append(ctx context.Context, actor session.Actor, bodies ...session.Body) error {
	return s.append(ctx, actor, bodies...)
}

// Interrupt asks to end the open turn. Unlike Cancel it may be called from another goroutine while Run runs.
func (s *Session) Interrupt(ctx context.Context, actor session.Actor) error {
	return s.ask(ctx, func() error {
		if s.state.Turn == nil {
			return nil
		}
		return s.append(ctx, actor, &session.CancelRequested{})
	})
}

// TendTasks starts and ends the tasks of which that was asked for, and does nothing else.
func (s *Session) TendTasks(ctx context.Context) error { return s.tend(ctx, false) }

// RestoreTasks is TendTasks, and runs those tasks again that a reboot took and that a human granted it to. What came of
// it is in Recovered.
func (s *Session) RestoreTasks(ctx context.Context) error { return s.tend(ctx, true) }

func (s *Session) tend(ctx context.Context, restore bool) error {
	for {
		if restore {
			if err := s.restartTasks(ctx); err != nil {
				return err
			}
		}
		for _, a := range session.Next(s.state) {
			if s.flights[a.ID] != nil {
				continue
			}
			switch do := a.Do.(type) {
			case session.KillTask:
				s.killTask(a.ID, do)
			case session.StartTask:
				if err := s.startTask(a.ID, do); err != nil {
					return err
				}
			}
		}
		if len(s.flights) == 0 {
			return nil
		}
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
		}
	}
}
