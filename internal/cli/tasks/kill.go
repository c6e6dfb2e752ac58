package tasks

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/view"
)

func killCommand(a *app.App) *cobra.Command {
	var all, stray bool
	var except []string
	c := &cobra.Command{
		Use: "kill [SESSION] TASK... | SESSION --all", Short: "End tasks with everything they started",
		Long: "Ends tasks with everything they started, and says how each ended. A TASK is an id or a name, after its session or\n" +
			"by itself where only one task of this home has it, or only one that runs.",
		Args: app.RangeArgs(1, -1, "tasks, or a session and its tasks"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case stray && (all || len(except) > 0):
				return app.UsageError("--stray goes with SESSION/ACT alone")
			case stray:
				return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error { return killStrays(ctx, a, h, args) })
			case all && len(args) > 1:
				return app.UsageError("name tasks or give --all, not both")
			case !all && len(except) > 0:
				return app.UsageError("--except goes with --all")
			case all:
				return a.OnSession(cmd, args[0], func(ctx context.Context, h *homes.Home, id string) error {
					tasks, err := liveTasks(ctx, a, h, id, except)
					if err != nil {
						return err
					}
					return killTasks(ctx, a, h, tasks)
				})
			}
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				tasks, err := tasksToKill(ctx, a, h, args)
				if err != nil {
					return err
				}
				return killTasks(ctx, a, h, tasks)
			})
		},
	}
	c.Flags().BoolVar(&all, "all", false, "all tasks of the session that still have processes")
	c.Flags().BoolVar(&stray, "stray", false, "commands that no session knows, as doctor names them: SESSION/ACT...")
	c.Flags().StringArrayVar(&except, "except", nil, "with --all: leave this `TASK` alone; may be given again")
	return c
}

// tasksToKill finds the tasks that are named. A session alone names none: too much would end.
func tasksToKill(ctx context.Context, a *app.App, h *homes.Home, args []string) ([]view.Task, error) {
	if len(args) == 1 {
		if id, err := a.Resolve(ctx, h, args[0]); err == nil {
			tasks, err := a.AllTasks(ctx, h)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(tasks, app.IsCalled(args[0])) {
				return nil, app.UsageError("which tasks of session %s? name them, or give --all", id)
			}
		}
	}
	return namedTasks(ctx, a, h, args)
}

// liveTasks are the session's own tasks that have processes, but for the excepted ones.
func liveTasks(ctx context.Context, a *app.App, h *homes.Home, id string, except []string) ([]view.Task, error) {
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	tasks := h.Tasks().Live(st)
	for _, name := range except {
		spared, err := findTask(a, h, st, name)
		if err != nil {
			return nil, err
		}
		tasks = slices.DeleteFunc(tasks, func(t view.Task) bool { return t.ID == spared.ID })
	}
	return tasks, nil
}

// killTasks ends tasks, returns when nothing of them is left, and says how each ended.
func killTasks(ctx context.Context, a *app.App, h *homes.Home, tasks []view.Task) error {
	if h.Commands() == nil {
		return errors.New("this program cannot end commands")
	}
	bySession := map[string][]view.Task{}
	for _, t := range tasks {
		bySession[t.SessionID] = append(bySession[t.SessionID], t)
	}
	for _, id := range slices.Sorted(maps.Keys(bySession)) {
		if err := endTasks(ctx, a, h, id, bySession[id], command.ByUser); err != nil {
			return err
		}
		st, err := h.State(ctx, id)
		if err != nil {
			return err
		}
		for _, t := range bySession[id] {
			if now, ok := h.Tasks().One(st, t.ID); ok && t.Live() {
				a.Note("%s: %s", display.Called(now), display.TaskStatus(now))
			}
		}
	}
	return nil
}

// endTasks ends tasks of a session, all at once.
func endTasks(ctx context.Context, a *app.App, h *homes.Home, id string, tasks []view.Task, by string) error {
	for _, t := range tasks {
		switch {
		case t.Reason == command.ReasonCopied:
			a.Note("task %s belongs to the home that this one is a copy of: it is not touched", display.Called(t))
		case !t.Live():
			a.Note("task %s has ended already: %s", display.Called(t), display.TaskStatus(t))
		}
	}
	return a.Within(ctx, h, id, killPatience, func(ctx context.Context) error { return h.Tasks().Kill(ctx, by, tasks...) })
}

// killPatience is how long a kill may take: what ignores SIGTERM is given its time before SIGKILL.
const killPatience = 6 * app.Patience
