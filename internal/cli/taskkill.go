package cli

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/view"
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
				return a.verb(cmd, func(ctx context.Context, h *homes.Home) error { return a.killStrays(ctx, h, args) })
			case all && len(args) > 1:
				return usageError("name tasks or give --all, not both")
			case !all && len(except) > 0:
				return usageError("--except goes with --all")
			case all:
				return a.onSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
					tasks, err := a.liveTasks(ctx, h, id, except)
					if err != nil {
						return err
					}
					return a.killTasks(ctx, h, tasks)
				})
			}
			return a.verb(cmd, func(ctx context.Context, h *homes.Home) error {
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
func (a *App) tasksToKill(ctx context.Context, h *homes.Home, args []string) ([]view.Task, error) {
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
func (a *App) liveTasks(ctx context.Context, h *homes.Home, id string, except []string) ([]view.Task, error) {
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	tasks := h.Tasks().Live(st)
	for _, name := range except {
		spared, err := a.findTask(h, st, name)
		if err != nil {
			return nil, err
		}
		tasks = slices.DeleteFunc(tasks, func(t view.Task) bool { return t.ID == spared.ID })
	}
	return tasks, nil
}

// killTasks ends tasks, returns when nothing of them is left, and says how each ended.
func (a *App) killTasks(ctx context.Context, h *homes.Home, tasks []view.Task) error {
	if h.Commands() == nil {
		return errors.New("this program cannot end commands")
	}
	bySession := map[string][]view.Task{}
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
			if now, ok := h.Tasks().One(st, t.ID); ok && t.Live() {
				a.note("%s: %s", called(now), taskStatus(now))
			}
		}
	}
	return nil
}

// endTasks ends tasks of a session, all at once.
func (a *App) endTasks(ctx context.Context, h *homes.Home, id string, tasks []view.Task, by string) error {
	for _, t := range tasks {
		switch {
		case t.Reason == task.ReasonCopied:
			a.note("task %s belongs to the home that this one is a copy of: it is not touched", called(t))
		case !t.Live():
			a.note("task %s has ended already: %s", called(t), taskStatus(t))
		}
	}
	return a.within(ctx, h, id, killPatience, func(ctx context.Context) error { return h.Tasks().Kill(ctx, by, tasks...) })
}

// killPatience is how long a kill may take: what ignores SIGTERM is given its time before SIGKILL.
const killPatience = 6 * patience
