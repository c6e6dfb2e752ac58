package cli

import (
	"context"
	"fmt"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/internal/settings"
	"github.com/perdure/perdure/session"
)

// settle completes the options by what an existing session was given before, and refuses one that cannot go on. A paused
// one goes on: that is what resuming it asks for. It returns the session's rules before this run.
func (a *App) settle(ctx context.Context, h *perdure.Home, id string, f *runFlags, set settings.Loaded, resumed bool, opt *perdure.RunOptions) ([]session.Rule, error) {
	if !resumed {
		f.limits(opt, set, nil)
		return nil, nil
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	f.limits(opt, set, st)
	a.tellRuleChanges(st.Permissions.Rules, opt.Rules)
	if err := a.budgetOf(h, set, st, opt); err != nil {
		return nil, err
	}
	if st.Lifecycle.Over() {
		return nil, isOver(st)
	}
	if err := a.relocate(st, f, opt); err != nil {
		return nil, err
	}
	if st.Lifecycle == session.LifecyclePaused {
		a.note("session %s was paused; it is open again", id)
		err = a.deliver(ctx, h, id, &session.LifecycleSet{To: session.LifecycleOpen})
	}
	return st.Permissions.Rules, err
}

// relocate finds where a session works whose directory is gone: where a flag says; else in the directory that it was
// opened in, if only one below is gone. Without any of them it cannot go on.
func (a *App) relocate(st *session.State, f *runFlags, opt *perdure.RunOptions) error {
	if f.cwd != "" {
		dirs, err := directories("--cwd", []string{f.cwd}, a.Dir)
		if err != nil {
			return err
		}
		opt.Root, opt.Cwd = dirs[0], dirs[0]
		return nil
	}
	root := st.Config.Root
	switch {
	case st.Cwd == "" || isDir(st.Cwd):
		return nil
	case root != st.Cwd && isDir(root):
		a.note("the directory %s is gone: session %s goes on in %s", st.Cwd, st.ID, root)
		opt.Cwd = root
		return nil
	}
	return &exitError{
		code: ExitFailed, text: fmt.Sprintf("session %s works in %s, which is gone", st.ID, st.Cwd),
		hint: fmt.Sprintf("perdure -p --resume %s --cwd DIR goes on in another directory; or make %s again", st.ID, root),
	}
}
