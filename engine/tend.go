package engine

import (
	"context"

	"github.com/perdure/perdure/session"
)

// tend takes an action that is about a task, or tells that it is not one.
func (s *Session) tend(ctx context.Context, a session.Action) (bool, error) {
	switch do := a.Do.(type) {
	case session.StartTask:
		return true, s.startTask(a.ID, do)
	case session.KillTask:
		return true, s.killTask(ctx, a.ID, do)
	case session.WriteTask:
		return true, s.writeTask(ctx, a.ID, do)
	case session.Settle:
		// A command that was sent to the background is looked up like any other: if it runs, it is a task now.
		if do.Call != nil && do.Call.Start != nil && do.Call.Start.Moved {
			return true, s.settle(ctx, a, do)
		}
	}
	return false, nil
}
