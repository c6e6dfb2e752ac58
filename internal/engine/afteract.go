package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/perdure/perdure/internal/session"
)

// AfterAct is called when a tool call that may have changed something has its outcome in the log, and before anything
// else is begun: what it finds, for example the files as they are now, is the call's doing. It may return events of its
// own, which are appended as the engine's before the session goes on; what does not fit the session is refused.
//
// It runs in the session's loop, one call at a time for each session. Its context ends after [Config.AfterActLimit].
// An error is logged and stops nothing; a hook that has not returned a second after its context ended ends the run with
// an error.
//
// It is called at least once for each such call: whoever opens a session after a kill calls it again for the calls of
// the newest step.
type AfterAct func(ctx context.Context, sessionID string, act session.Act) ([]session.Body, error)

// mayHaveChanged reports whether a call was begun that is not only a look.
func mayHaveChanged(c *session.Call) bool {
	return c != nil && c.Settled() && c.Start != nil && !c.Left && !c.Effect.SafeToRetry()
}

// noteActs remembers the calls of the newest step for the hook: those that were settled before this holder.
func (s *Session) noteActs() {
	if t := s.state.Turn; t != nil && s.eng.cfg.AfterAct != nil {
		for i := range t.Calls {
			if c := &t.Calls[i]; mayHaveChanged(c) {
				s.settled = append(s.settled, c.Act())
			}
		}
	}
}

// noteAct remembers a call that an event has just settled.
func (s *Session) noteAct(body session.Body) {
	if s.eng.cfg.AfterAct == nil {
		return
	}
	var act string
	switch b := body.(type) {
	case *session.ToolFinished:
		act = b.Act
	case *session.ToolUnknown:
		act = b.Act
	default:
		return
	}
	if c := s.state.Call(act); mayHaveChanged(c) {
		s.settled = append(s.settled, c.Act())
	}
}

// afterActs calls the hook for every call that was settled since it was called last.
func (s *Session) afterActs(ctx context.Context) error {
	for len(s.settled) > 0 {
		act := s.settled[0]
		bodies, err := s.afterAct(ctx, act)
		if err != nil {
			return err
		}
		s.settled = slices.Delete(s.settled, 0, 1)
		if err := s.Append(ctx, engineActor, bodies...); err != nil {
			return fmt.Errorf("the hook after %s: %w", act.ID, err)
		}
	}
	return nil
}

// afterAct calls the hook once. A call that the session's end cuts short is made again by the next holder.
func (s *Session) afterAct(ctx context.Context, act session.Act) ([]session.Body, error) {
	type answer struct {
		bodies []session.Body
		err    error
	}
	limit := s.eng.cfg.AfterActLimit
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if cause := recover(); cause != nil {
				a = answer{err: fmt.Errorf("panic: %v", cause)}
			}
			done <- a
		}()
		a.bodies, a.err = s.eng.cfg.AfterAct(bounded, s.state.ID, act)
	}()
	late := time.NewTimer(limit + time.Second)
	defer late.Stop()
	select {
	case a := <-done:
		if a.err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if a.err != nil {
			s.eng.cfg.Log.Warn("the hook after an act failed", "session", s.state.ID, "act", act.ID, "error", a.err)
			return nil, nil
		}
		return a.bodies, nil
	case <-late.C:
		return nil, fmt.Errorf("session %s: the hook after %s has not returned within %s", s.state.ID, act.ID, limit)
	}
}
