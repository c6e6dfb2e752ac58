package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/engine"
	"github.com/perdure/perdure/session"
)

func (a *App) taskKillCommand() *cobra.Command {
	return &cobra.Command{
		Use: "kill ID TASK...", Short: "End tasks with everything they started", Args: rangeArgs(2, -1, "a session and its tasks"),
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onSession(cmd, args[0], func(ctx context.Context, h *perdure.Home, id string) error {
				return a.killTasks(ctx, h, id, args[1:])
			})
		},
	}
}

// killTasks ends tasks and returns when nothing of them is left. All names are checked before anything is signalled.
func (a *App) killTasks(ctx context.Context, h *perdure.Home, id string, names []string) error {
	st, err := h.State(ctx, id)
	if err != nil {
		return err
	}
	tasks := make([]perdure.TaskView, len(names))
	for i, name := range names {
		if tasks[i], err = findTask(h, st, name); err != nil {
			return err
		}
		if owner := tasks[i].SessionID; owner != id {
			return &exitError{
				code: exitFailed, text: fmt.Sprintf("task %s belongs to session %s, from which %s was forked", name, owner, id),
				hint: fmt.Sprintf("perdure task kill %s %s ends it there", owner, name),
			}
		}
	}
	if h.Commands() == nil {
		return errors.New("this program cannot end commands")
	}
	for _, t := range tasks {
		if err := a.killTask(ctx, h, id, t); err != nil {
			return fmt.Errorf("session %s: task %s: %w", id, t.ID, err)
		}
	}
	return nil
}

func (a *App) killTask(ctx context.Context, h *perdure.Home, id string, t perdure.TaskView) error {
	if !t.Live() {
		a.note("task %s has ended already: %s", t.ID, taskStatus(t))
		return nil
	}
	// The wish is in the log before the first signal. A task whose command ended, and left processes, is over for the
	// log: then only its directory knows who ended them.
	if t.Status == session.CommandRunning {
		err := a.deliver(ctx, h, id, &session.TaskSignalled{Task: t.ID, Signal: "SIGTERM", By: "user"})
		if err != nil && !errors.Is(err, engine.ErrRefused) { // refused: it ended meanwhile
			return err
		}
	}
	// A live holder may still be at it. Whoever comes second finds the wish recorded and waits for the same end.
	return h.Commands().Kill(ctx, id, t.Act, "user")
}
