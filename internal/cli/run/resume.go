package run

import (
	"context"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
)

// settle completes the options by what an existing session was given before, and refuses one that cannot go on. A
// paused one goes on with -p: that is what resuming it asks for; on the screen it goes on when its person says so. It
// returns the session's rules before this run.
func settle(ctx context.Context, a *app.App, h *homes.Home, id string, f *Flags, set settings.Loaded, resumed bool, opt *homes.RunOptions) ([]session.Rule, error) {
	if !resumed {
		f.limits(opt, set, nil)
		return nil, nil
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	if f.watched != nil && st.Lifecycle != session.LifecycleOpen {
		return nil, errRests // nobody but a person opens it again
	}
	f.limits(opt, set, st)
	tellRuleChanges(a, st.Permissions.Rules, opt.Rules)
	if err := budgetOf(a, h, set, st, opt); err != nil {
		return nil, err
	}
	if st.Lifecycle.Over() {
		return nil, app.IsOver(st)
	}
	if err := relocate(a, h, st, f, opt); err != nil {
		return nil, err
	}
	if st.Lifecycle == session.LifecyclePaused && f.print {
		a.Note("session %s was paused; it is open again", id)
		err = a.Deliver(ctx, h, id, &session.LifecycleSet{To: session.LifecycleOpen})
	}
	return st.Permissions.Rules, err
}

// relocate finds where a session works whose directory is gone: where a flag says; else in the directory that it was
// opened in, if only one below is gone. Without any of them it cannot go on.
func relocate(a *app.App, h *homes.Home, st *session.State, f *Flags, opt *homes.RunOptions) error {
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
	case st.Cwd == "" || app.IsDir(st.Cwd):
		return nil
	case root != st.Cwd && app.IsDir(root):
		a.Note("the directory %s is gone: session %s goes on in %s", st.Cwd, st.ID, root)
		opt.Cwd = root
		return nil
	}
	return errGone(a, h, st)
}
