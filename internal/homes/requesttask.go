package homes

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/task"
)

// Check says why a request for a task, or for another attempt of one that may still run, would be refused: by the given
// rules, which are those of today's files (nil: those that the session has); by those that its living holder has read;
// or because directory or program are not there. It holds nothing and changes nothing. Errors: store.ErrNotFound, and
// what engine.ErrRefused wraps.
func (ts Tasks) Check(ctx context.Context, id string, b session.TaskRequested, rules []session.Rule) error {
	h := ts.home
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	info, err := h.store.Get(ctx, id)
	if err != nil {
		return err
	}
	if info.Holder != nil { // it decides by what it has read
		held := b
		if _, err := h.eng.MayRunTask(st, st.Permissions.Rules, &held); err != nil {
			return fmt.Errorf("session %s: %w: %w", id, engine.ErrRefused, err)
		}
	}
	if rules == nil {
		rules = st.Permissions.Rules
	}
	env, err := h.eng.MayRunTask(st, rules, &b)
	if err == nil {
		err = task.CheckProgram(b.Argv, b.Cwd, env)
	}
	if err != nil {
		return fmt.Errorf("session %s: %w: %w", id, engine.ErrRefused, err)
	}
	return nil
}
