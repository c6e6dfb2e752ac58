package engine

import (
	"context"
	"time"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Pauses between attempts of one model call: they double from the first to the longest, and up to half more is jitter.
const (
	firstDelay   = 500 * time.Millisecond
	longestDelay = 40 * time.Second // with its jitter, a minute
	longestAsked = time.Hour        // the longest retry-after that is honoured as asked
)

// retryPlan says when a call that failed is made again.
type retryPlan struct {
	failures int           // in a row, before this attempt
	broken   int           // of them, those that broke off after the reply had begun
	most     int           // of these
	since    time.Time     // from when on the patience counts; zero: from this attempt's failure on
	patience time.Duration // nothing is tried after it
}

// retryPlan is the plan of the attempt that was just logged. The patience begins with the first failure in a row, or
// with this lease if that was before it: whoever resumes brings a new one.
func (s *modelCalls) retryPlan() retryPlan {
	m := s.state.NewestCall()
	p := retryPlan{failures: m.Failures, broken: m.Broken, most: s.eng.cfg.MaxFailures, patience: s.eng.cfg.RetryFor}
	if ms := s.state.Config.RetryForMS; ms != nil {
		own := time.Duration(*ms) * time.Millisecond
		if s.state.Claimed.Retry {
			own = min(own, p.patience) // nobody here has said that it may be longer
		}
		p.patience = own
	}
	if m.Failures > 0 {
		if p.since = time.UnixMilli(m.Since); p.since.Before(s.began) {
			p.since = s.began
		}
	}
	return p
}

// next is the pause before the next attempt; not ok: there is none. Asked is what the API asked for, broken that the
// reply had begun. The last pause is cut short, so that the patience ends with an attempt.
func (p retryPlan) next(now time.Time, asked time.Duration, broken bool, random float64) (delay, jitter time.Duration, ok bool) {
	left := p.until(now).Sub(now)
	if left <= 0 || broken && p.broken+1 >= p.most {
		return 0, 0, false
	}
	if asked > 0 {
		delay = min(max(asked, firstDelay), longestAsked)
		return delay, 0, delay <= left
	}
	delay = min(longestDelay, firstDelay<<min(p.failures, 10))
	jitter = time.Duration(random * float64(delay) / 2)
	if delay += jitter; delay > left {
		delay, jitter = left, 0
	}
	return delay, jitter, true
}

// until is when the patience ends, now being the end of the newest attempt.
func (p retryPlan) until(now time.Time) time.Time {
	if p.since.IsZero() {
		return now.Add(p.patience)
	}
	return p.since.Add(p.patience)
}

// GiveUp ends the open turn if a limit or a failed model call has halted it.
func (s *Session) GiveUp(ctx context.Context) error {
	halt, why := s.state.Halt()
	if halt == "" {
		return nil
	}
	return s.append(ctx, engineActor, &session.TurnEnded{N: s.state.Turn.N, Stop: halt, Message: why})
}

// Resume lets a turn go on that a failed model call or the limit of steps has halted: the call is made once more, the
// steps are counted anew. A call that another model is to take over goes at once. It changes nothing else; Run goes on.
// Whoever brings a new prompt does not call it: see [Options].NewPrompt.
func (s *Session) Resume(ctx context.Context, actor store.Actor) error {
	if actor.Type == "" {
		actor.Type = store.ActorUser
	}
	halt, _ := s.state.Halt()
	switch f := s.state.Failure(); {
	case s.state.Lifecycle != session.LifecycleOpen || s.state.NewestCall() == nil:
	case f != nil && (f.Rests && (halt != "" || s.state.Turn == nil) || f.RetryAt > 0 && s.switched):
		return s.append(ctx, actor, &session.TimerFired{ID: session.WakeID(s.state.NewestCall().ID)})
	case halt == session.TurnMaxSteps:
		steps := s.state.Config.MaxSteps
		return s.append(ctx, actor, &session.Configured{MaxSteps: &steps})
	}
	return nil
}
