// Package tasks are the commands about background tasks: to start, list, watch, await and end them, to read what they
// print and to type into them, and to run them again after a reboot. It finds the task that a person means and words
// what became of it; what is done to it is done by package perdure.
package tasks

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/view"
)

// Command is perdure task.
func Command(a *app.App) *cobra.Command {
	return app.Group("task", "Background commands: they outlive the agent", runCommand(a), listCommand(a),
		outputCommand(a), killCommand(a), watchCommand(a), waitCommand(a), attachCommand(a), writeCommand(a),
		backgroundCommand(a), restartCommand(a), restartPolicyCommand(a), restoreCommand(a))
}

// taskFilter says which tasks a list shows.
type taskFilter struct{ all, running bool }

func listCommand(a *app.App) *cobra.Command {
	var asJSON bool
	var show taskFilter
	c := &cobra.Command{
		Use: "list [ID]", Short: "List the tasks of a session, or of all", Args: app.RangeArgs(0, 1, "at most one session"),
		Long: "Lists background tasks as they are now, whoever is alive to know. AGE is how long it has run, up to its end,\n" +
			"ENDED when that was; CPU the processor time used so far, MEMORY what is resident of all its processes, PORTS\n" +
			"where they listen, OUTPUT what was printed, kept or not, UNREAD what of it the model has not read. What ended\n" +
			"more than a day ago is left out, but for --all, and on a narrow terminal figures that do not fit. perdure task\n" +
			"watch shows the same, live.",
		Example: "  perdure task list\n  perdure task list ID --json | jq -r 'select(.ports != []) | .id'",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.Verb(cmd, func(ctx context.Context, h *homes.Home) error {
				var tasks []view.Task
				var err error
				if len(args) == 0 {
					tasks, err = a.AllTasks(ctx, h)
				} else {
					tasks, err = a.TasksOf(ctx, h, args[0])
				}
				if err != nil {
					return err
				}
				return printTasks(a, chosen(a, tasks, show), len(args) == 0, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	c.Flags().BoolVarP(&show.all, "all", "a", false, "those too that ended more than a day ago")
	c.Flags().BoolVar(&show.running, "running", false, "only those that still have processes")
	return c
}

// endedFor is how long a task that has ended stays in the list.
const endedFor = 24 * time.Hour

// chosen are the tasks to show. How many are left out for their age is told.
func chosen(a *app.App, tasks []view.Task, show taskFilter) (out []view.Task) {
	old := 0
	for _, t := range tasks {
		switch {
		case t.Live():
		case show.running:
			continue
		case !show.all && t.Ended > 0 && a.Now().Sub(time.UnixMilli(int64(t.Ended))) > endedFor:
			old++
			continue
		}
		out = append(out, t)
	}
	switch {
	case old == 1:
		a.Note("1 task that ended more than a day ago is left out")
	case old > 1:
		a.Note("%d tasks that ended more than a day ago are left out", old)
	}
	if old > 0 {
		a.Hint("--all shows them")
	}
	return out
}

// printTasks prints tasks. With session, they are of several.
func printTasks(a *app.App, tasks []view.Task, session, asJSON bool) error {
	ids := make([]string, len(tasks))
	for i, t := range tasks {
		ids[i] = t.SessionID
	}
	name := a.ShortIDs(ids)
	rows := [][]string{{"SESSION", "TASK", "NAME", "STATUS", "PID", "AGE", "ENDED", "CPU", "MEMORY", "PORTS", "OUTPUT", "UNREAD", "COMMAND"}}
	for _, t := range tasks {
		if asJSON {
			if err := a.JSON(t); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{
			name(t.SessionID), t.ID, t.Name, display.TaskStatus(t), strconv.Itoa(t.PID), display.Ran(t), endedAgo(a, t), display.CPUTime(t.CPU), display.Memory(t.RSS),
			display.Ports(t.Ports), display.Bytes(t.Output), display.Bytes(max(0, t.Output-t.Position)), t.Command,
		})
	}
	switch {
	case asJSON:
		return nil
	case len(tasks) == 0:
		a.Note("no tasks")
		return nil
	case !session:
		rows = display.WithoutColumn(rows, 0)
	}
	if !slices.ContainsFunc(tasks, func(t view.Task) bool { return t.Ended > 0 }) {
		rows = display.WithoutColumn(rows, slices.Index(rows[0], "ENDED"))
	}
	if !slices.ContainsFunc(tasks, func(t view.Task) bool { return t.Name != "" }) {
		rows = display.WithoutColumn(rows, slices.Index(rows[0], "NAME"))
	}
	columns, _ := a.Window()
	return a.Table(display.Narrow(rows, columns, "UNREAD", "CPU", "MEMORY", "PORTS", "OUTPUT", "PID", "ENDED", "AGE"))
}

func endedAgo(a *app.App, t view.Task) string {
	if t.Ended == 0 {
		return "-"
	}
	return a.Ago(int64(t.Ended))
}
