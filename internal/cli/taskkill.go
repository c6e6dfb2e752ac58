package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
		Use: "kill [SESSION] TASK... | SESSION --all", Short: "End tasks with everything they started",
		Long: "Ends tasks with everything they started, and says how each ended. A TASK is an id or a name, after its session or\n" +
			"by itself where only one task of this home has it, or only one that runs.",
		Args: rangeArgs(1, -1, "tasks, or a session and its tasks"), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case stray && (all || len(except) > 0):
				return usageError("--stray goes with SESSION/ACT alone")
			case stray:
				return a.verb(cmd, func(ctx context.Context, h *perdure.Home) error { return a.killStrays(ctx, h, args) })
			case all && len(args) > 1:
				return usageError("name tasks or give --all, not both")
			case !all && len(except) > 0:
				return usageError("--except goes with --all")
			case all:
				return a.onSession(cmd, args[0], func(ctx context.Context, h *perdure.Home, id string) error {
					tasks, err := a.liveTasks(ctx, h, id, except)
					if err != nil {
						return err
					}
					return a.killTasks(ctx, h, tasks)
				})
			}
			return a.verb(cmd, func(ctx context.Context, h *perdure.Home) error {
				tasks, err := a.tasksToKill(ctx, h, args)
				if err != nil {
					return err
				}
				return a.killTasks(ctx, h, tasks)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all tasks of the session that still have processes")
	c.Flags().BoolVar(&stray, "stray", false, "commands that no session knows, as doctor names them: SESSION/ACT...")
	c.Flags().StringArrayVar(&except, "except", nil, "with --all: leave this `TASK` alone; may be given again")
	return c
}

// tasksToKill finds the tasks that are named. A session alone names none: too much would end.
func (a *App) tasksToKill(ctx context.Context, h *perdure.Home, args []string) ([]perdure.TaskView, error) {
	if len(args) == 1 {
		if id, err := a.resolve(ctx, h, args[0]); err == nil {
			tasks, err := a.allTasks(ctx, h)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(tasks, isCalled(args[0])) {
				return nil, usageError("which tasks of session %s? name them, or give --all", id)
			}
		}
	}
	return a.namedTasks(ctx, h, args)
}

// liveTasks are the session's own tasks that have processes, but for the excepted ones.
func (a *App) liveTasks(ctx context.Context, h *perdure.Home, id string, except []string) (tasks []perdure.TaskView, err error) {
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	var spared []string
	for _, name := range except {
		t, err := a.findTask(h, st, name)
		if err != nil {
			return nil, err
		}
		spared = append(spared, t.ID)
	}
	for _, t := range h.TaskViews(st) {
		if t.Live() && t.SessionID == id && !slices.Contains(spared, t.ID) {
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}

// killTasks ends tasks, returns when nothing of them is left, and says how each ended.
func (a *App) killTasks(ctx context.Context, h *perdure.Home, tasks []perdure.TaskView) error {
	if h.Commands() == nil {
		return errors.New("this program cannot end commands")
	}
	bySession := map[string][]perdure.TaskView{}
	for _, t := range tasks {
		bySession[t.SessionID] = append(bySession[t.SessionID], t)
	}
	for _, id := range slices.Sorted(maps.Keys(bySession)) {
		if err := a.endTasks(ctx, h, id, bySession[id], session.ByUser); err != nil {
			return err
		}
		st, err := h.State(ctx, id)
		if err != nil {
			return err
		}
		for _, t := range bySession[id] {
			if now, ok := h.TaskView(st, t.ID); ok && t.Live() {
				a.note("%s: %s", called(now), taskStatus(now))
			}
		}
	}
	return nil
}

// endTasks ends tasks of a session, all at once.
func (a *App) endTasks(ctx context.Context, h *perdure.Home, id string, tasks []perdure.TaskView, by string) error {
	var wishes []session.Body
	var targets []task.Target
	for _, t := range tasks {
		switch {
		case !t.Live():
			a.note("task %s has ended already: %s", called(t), taskStatus(t))
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
