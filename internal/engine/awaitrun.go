package engine

import (
	"context"
	"time"

	"github.com/perdure/perdure/internal/session"
)

// RunWaiting is Run, and does not end while something is awaited, or a human is: the loop then sleeps, and looks at the
// inbox now and then, but never asks a model. What is met, a message, an answer or an approval lets it go on. Asleep is
// called in the loop, with the state to look at during the call, before the first sleep and after each that a model was
// asked since; it must not block. An [Session.Interrupt] ends it: the awaits stay open for the next holder.
func (s *Session) RunWaiting(ctx context.Context, asleep func(*session.State)) error {
	s.awaiting.waits = true
	defer func() { s.awaiting.waits = false }()
	since := int64(-1) // the newest request when it went to sleep
	return s.run(ctx, mode{turns: true, takes: forRun, rests: func() bool {
		switch {
		case !s.rests():
			return false
		case s.named(ctx):
			return false
		case !s.sleeps():
			return true
		case since != s.state.Untold.Through && asleep != nil:
			asleep(s.state)
		}
		since, s.awaiting.asleep = s.state.Untold.Through, true
		return false
	}})
}

// Serve is Run for a program that stays: it never ends by itself. When nothing can progress without outside input it
// sleeps, and rested is called in the loop, with the state to look at during the call; once for each position of the log
// that it rests at. It must not block. An [Session.Interrupt] cancels the open turn; what is awaited starts no turn then
// before the next prompt does.
func (s *Session) Serve(ctx context.Context, rested func(*session.State)) error {
	s.awaiting.serves = true
	defer func() { s.awaiting.serves = false }()
	since := int64(-1)
	return s.run(ctx, mode{turns: true, takes: forRun, rests: func() bool {
		if !s.rests() && !s.still {
			return false
		}
		if since != s.state.Head.Seq {
			since = s.state.Head.Seq
			rested(s.state)
			s.named(ctx)
		}
		s.awaiting.asleep = true
		return false
	}})
}

// Still has [Session.Serve] start nothing, or go on: what an earlier holder left open is settled and what comes is taken
// in, but no turn begins, no model is called and no tool is started. Only the loop may change it while it runs: see
// [Session.Do].
func (s *Session) Still(still bool) { s.still = still }

// Do has work done by the loop that [Session.Run], [Session.RunWaiting] or [Session.Serve] runs, between two of its own
// steps, and waits for it. It may be called from any goroutine. Errors: of the work, and of ctx.
func (s *Session) Do(ctx context.Context, work func() error) error { return s.ask(ctx, work) }

// sleepFactor is how much less often the inbox is looked at during a sleep.
const sleepFactor = 5

// pace sets how often the loop looks at the inbox.
func (s *Session) pace(poll *time.Ticker, slow bool) {
	if slow != s.awaiting.asleep {
		every := s.eng.cfg.Poll
		if s.awaiting.asleep {
			every *= sleepFactor
		}
		poll.Reset(every)
	}
}

// rests reports whether nothing can progress without outside input.
func (s *Session) rests() bool {
	return session.ActivityOf(s.state) != session.Running || s.awaiting.stopped && s.state.Woken()
}

// sleeps reports whether something can come that lets a session go on that rests.
func (s *Session) sleeps() bool {
	switch {
	case s.awaiting.stopped || s.state.Lifecycle != session.LifecycleOpen:
		return false
	case s.state.Turn != nil:
		return len(session.Waits(s.state)) > 0
	}
	return len(s.state.Awaits) > 0
}
