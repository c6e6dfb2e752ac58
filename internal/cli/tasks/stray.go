package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/store"
)

// killStrays ends commands that no session knows of any more, by what doctor calls them: SESSION/ACT. All are looked at
// before anything is signalled.
func killStrays(ctx context.Context, a *app.App, h *homes.Home, names []string) error {
	r := h.Commands()
	if r == nil {
		return errors.New("this program cannot end commands")
	}
	targets := make([]task.Target, len(names))
	for i, name := range names {
		id, act, found := strings.Cut(name, "/")
		if !found {
			return app.UsageError("%q is not what doctor calls a stray: SESSION/ACT", name)
		}
		if err := refuseKnown(ctx, a, h, id, act); err != nil {
			return err
		}
		st, err := r.State(id, act)
		switch {
		case err != nil:
			return err
		case st.Reason == command.ReasonDirMissing:
			return &app.ExitError{Code: app.ExitMissing, Text: fmt.Sprintf("there is no command %s", name), Hint: a.Command("doctor") + " lists those that there are"}
		}
		targets[i] = task.Target{Session: id, Act: act}
	}
	return errors.Join(r.KillAll(ctx, targets, command.ByUser)...)
}

// refuseKnown refuses a command that has a name of its own in its session: there its end is recorded.
func refuseKnown(ctx context.Context, a *app.App, h *homes.Home, id, act string) error {
	st, err := h.State(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, t := range st.Tasks {
		if t.Act == act && t.Session == "" {
			return &app.ExitError{Code: app.ExitUsage, Text: fmt.Sprintf("%s/%s is no stray: it is task %s", id, act, t.ID), Hint: a.Command("task", "kill", id, t.ID)}
		}
	}
	if c := st.Call(act); c != nil && !c.Settled() {
		return &app.ExitError{Code: app.ExitFailed, Text: fmt.Sprintf("%s/%s is no stray: the open turn waits for it", id, act), Hint: a.Command("-p", "--resume", id) + " goes on with it"}
	}
	return nil
}
