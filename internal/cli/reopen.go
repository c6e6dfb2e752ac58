package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/settings"
)

// settle completes the options by what an existing session was given before, and refuses one that cannot go on. A paused
// one goes on: that is what resuming it asks for. It returns the session's rules before this run.
func (a *App) settle(ctx context.Context, h *homes.Home, id string, f *runFlags, set settings.Loaded, resumed bool, opt *homes.RunOptions) ([]session.Rule, error) {
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

// isOver says that a session takes nothing more, and what helps.
func isOver(st *session.State) error {
	e := &exitError{
		code: exitFailed, text: fmt.Sprintf("session %s is %s: it takes no more turns", st.ID, st.Lifecycle),
		hint: "a fork goes on where it ended: perdure -p --resume " + st.ID + " --fork-session",
	}
	if st.Lifecycle == session.LifecycleClosed {
		e.more = []string{"perdure reopen " + st.ID + " lets it take turns again"}
	}
	return e
}

// relocate finds where a session works whose directory is gone: where a flag says; else in the directory that it was
// opened in, if only one below is gone. Without any of them it cannot go on.
func (a *App) relocate(st *session.State, f *runFlags, opt *homes.RunOptions) error {
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
		code: exitFailed, text: fmt.Sprintf("session %s works in %s, which is gone", st.ID, st.Cwd),
		hint: fmt.Sprintf("perdure -p --resume %s --cwd DIR goes on in another directory; or make %s again", st.ID, root),
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// workdir is the directory that the command was started in, without symbolic links. It may have been deleted since.
func (a *App) workdir() (string, error) {
	dir, err := filepath.EvalSymlinks(a.Dir)
	if err != nil || !isDir(dir) || !filepath.IsAbs(dir) {
		return "", &exitError{
			code: exitFailed, text: "the directory that this was started in is gone",
			hint: "change to one that exists, and run it again",
		}
	}
	return dir, nil
}
