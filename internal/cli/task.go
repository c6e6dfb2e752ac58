package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/store"
)

func (a *App) taskCommand() *cobra.Command {
	return group("task", "Background commands: they outlive the agent", a.taskRunCommand(), a.taskListCommand(),
		a.taskOutputCommand(), a.taskKillCommand(), a.taskRestartCommand(), a.taskRestartPolicyCommand(), a.taskRestoreCommand())
}

func (a *App) taskListCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list [ID]", Short: "List the tasks of a session, or of all", Args: rangeArgs(0, 1, "at most one session"),
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.verb(cmd, func(ctx context.Context, h *perdure.Home) error {
				var tasks []perdure.TaskView
				var err error
				if len(args) == 0 {
					tasks, err = a.allTasks(ctx, h)
				} else {
					tasks, err = tasksOf(ctx, h, args[0])
				}
				if err != nil {
					return err
				}
				return a.printTasks(tasks, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

func tasksOf(ctx context.Context, h *perdure.Home, name string) ([]perdure.TaskView, error) {
	id, err := resolve(ctx, h, name)
	if err != nil {
		return nil, err
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	return h.TaskViews(st), nil
}

// allTasks lists every session's own tasks. A fork's inherited ones are listed with the session whose they are.
func (a *App) allTasks(ctx context.Context, h *perdure.Home) ([]perdure.TaskView, error) {
	var out []perdure.TaskView
	err := each(ctx, h, store.Query{}, func(s store.Info) error {
		st, err := h.State(ctx, s.ID)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			a.note("left out: %v", err)
			return nil
		}
		for _, t := range h.TaskViews(st) {
			if t.SessionID == s.ID {
				out = append(out, t)
			}
		}
		return nil
	})
	return out, err
}

func (a *App) printTasks(tasks []perdure.TaskView, asJSON bool) error {
	rows := [][]string{{"SESSION", "TASK", "STATUS", "PID", "AGE", "OUTPUT", "UNREAD", "COMMAND"}}
	for _, t := range tasks {
		if asJSON {
			if err := a.json(t); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{
			t.SessionID, t.ID, taskStatus(t), strconv.Itoa(t.PID), a.age(int64(t.Started)), size(t.Output),
			size(max(0, t.Output-t.Position)), t.Command,
		})
	}
	if asJSON {
		return nil
	}
	if len(tasks) == 0 {
		a.note("no tasks")
		return nil
	}
	return a.table(rows)
}

// taskStatus is how a task stands, in words.
func taskStatus(t perdure.TaskView) string {
	s := string(t.Status)
	switch {
	case t.Status == session.CommandExited && t.ExitCode != nil:
		s = fmt.Sprintf("exited %d", *t.ExitCode)
	case t.Status == session.CommandKilled:
		s = strings.TrimSpace("killed " + t.Signal)
		if t.By != "" {
			s += " by " + t.By
		}
	case t.Reason != "":
		s += " (" + t.Reason + ")"
	}
	if t.Stragglers > 0 {
		s += fmt.Sprintf(", %d stragglers", t.Stragglers)
	}
	return s
}

// findTask finds one task of a session. An unknown one is told with those that there are.
func findTask(h *perdure.Home, st *session.State, name string) (perdure.TaskView, error) {
	tasks := h.TaskViews(st)
	names := make([]string, len(tasks))
	for i, t := range tasks {
		if t.ID == name {
			return t, nil
		}
		names[i] = t.ID
	}
	e := &exitError{code: exitMissing, text: fmt.Sprintf("session %s has no task %q", st.ID, name), hint: "it has no tasks"}
	if len(names) > 0 {
		e.hint = "nearest: " + strings.Join(nearest(name, names), ", ")
	}
	return perdure.TaskView{}, e
}
