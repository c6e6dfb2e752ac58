package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/engine"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/task"
)

func (a *App) taskKillCommand() *cobra.Command {
	var all, stray bool
	var except []string
	c := &cobra.Command{
		Use: "kill ID TASK... | ID --all", Short: "End tasks with everything they started",
		Args: rangeArgs(1, -1, "a session and its tasks"), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch names := args[1:]; {
			case stray && (all || len(except) > 0):
				return usageError("--stray goes with SESSION/ACT alone")
			case stray:
				return a.verb(cmd, func(ctx context.Context, h *perdure.Home) error { return a.killStrays(ctx, h, args) })
			case all && len(names) > 0:
				return usageError("name tasks or give --all, not both")
			case !all && len(names) == 0:
				return usageError("which tasks? name them, or give --all")
			case !all && len(except) > 0:
				return usageError("--except goes with --all")
			}
			return a.onSession(cmd, args[0], func(ctx context.Context, h *perdure.Home, id string) error {
				names, err := args[1:], error(nil)
				if all {
					names, err = liveTasks(ctx, h, id, except)
				}
				if err != nil {
					return err
				}
				return a.killTasks(ctx, h, id, names)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all tasks of the session that still have processes")
	c.Flags().BoolVar(&stray, "stray", false, "commands that no session knows, as doctor names them: SESSION/ACT...")
	c.Flags().StringArrayVar(&except, "except", nil, "with --all: leave this `TASK` alone; may be given again")
	return c
}

// liveTasks names the session's own tasks that have processes, but for the excepted ones.
func liveTasks(ctx context.Context, h *perdure.Home, id string, except []string) (names []string, err error) {
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, name := range except {
		if _, err := findTask(h, st, name); err != nil {
			return nil, err
		}
	}
	for _, t := range h.TaskViews(st) {
		if t.Live() && t.SessionID == id && !slices.Contains(except, t.ID) {
			names = append(names, t.ID)
		}
	}
	return names, nil
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
	return a.endTasks(ctx, h, id, tasks, session.ByUser)
}

// endTasks ends tasks of a session, all at once.
func (a *App) endTasks(ctx context.Context, h *perdure.Home, id string, tasks []perdure.TaskView, by string) error {
	var wishes []session.Body
	var targets []task.Target
	for _, t := range tasks {
		switch {
		case !t.Live():
			a.note("task %s has ended already: %s", t.ID, taskStatus(t))
			continue
		case t.Status == session.CommandRunning:
			wishes = append(wishes, &session.TaskSignalled{Task: t.ID, Signal: "SIGTERM", By: by})
		}
		targets = append(targets, task.Target{Session: id, Act: t.Act})
	}
	// The wishes are in the log before the first signal. A task whose command ended, and left processes, is over for the
	// log: then only its directory knows who ended them.
	if len(wishes) > 0 {
		err := a.within(ctx, h, id, patience, func(ctx context.Context) error { return h.DeliverAll(ctx, id, wishes...) })
		if err != nil && !errors.Is(err, engine.ErrRefused) { // refused: it ended meanwhile
			return fmt.Errorf("session %s: %w", id, err)
		}
	}
	// A live holder may still be at it. Whoever comes second finds the wish recorded and waits for the same end.
	return errors.Join(h.Commands().KillAll(ctx, targets, by)...)
}
