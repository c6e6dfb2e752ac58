package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/session"
)

func (a *App) taskCommand() *cobra.Command {
	return group("task", "Background commands: they outlive the agent", a.taskRunCommand(), a.taskListCommand(),
		a.taskOutputCommand(), a.taskKillCommand(), a.taskWatchCommand(), a.taskWaitCommand(), a.taskAttachCommand(), a.taskWriteCommand(),
		a.taskBackgroundCommand(), a.taskRestartCommand(), a.taskRestartPolicyCommand(), a.taskRestoreCommand())
}

func (a *App) taskListCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list [ID]", Short: "List the tasks of a session, or of all", Args: rangeArgs(0, 1, "at most one session"),
		Long: "Lists background tasks as they are now, whoever is alive to know. AGE is since the start, CPU the processor\n" +
			"time used so far, MEMORY what is resident of all its processes, PORTS where they listen, OUTPUT what was\n" +
			"printed, kept or not, UNREAD what of it the model has not read. perdure task watch shows the same, live.",
		Example:           "  perdure task list\n  perdure task list ID --json | jq -r 'select(.ports != []) | .id'",
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
				return a.printTasks(tasks, len(args) == 0, asJSON)
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
	return h.Tasks(ctx, id)
}

// allTasks lists every session's own tasks.
func (a *App) allTasks(ctx context.Context, h *perdure.Home) ([]perdure.TaskView, error) {
	tasks, left, err := h.AllTasks(ctx)
	for _, e := range left {
		a.note("left out: %v", e)
	}
	return tasks, err
}

// printTasks prints tasks. With session, they are of several.
func (a *App) printTasks(tasks []perdure.TaskView, session, asJSON bool) error {
	rows := [][]string{{"SESSION", "TASK", "NAME", "STATUS", "PID", "AGE", "CPU", "MEMORY", "PORTS", "OUTPUT", "UNREAD", "COMMAND"}}
	for _, t := range tasks {
		if asJSON {
			if err := a.json(t); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{
			t.SessionID, t.ID, t.Name, taskStatus(t), strconv.Itoa(t.PID), a.age(int64(t.Started)), cpuTime(t.CPU), memory(t.RSS),
			ports(t.Ports), size(t.Output), size(max(0, t.Output-t.Position)), t.Command,
		})
	}
	switch {
	case asJSON:
		return nil
	case len(tasks) == 0:
		a.note("no tasks")
		return nil
	case !session:
		rows = withoutColumn(rows, 0)
	}
	if !slices.ContainsFunc(tasks, func(t perdure.TaskView) bool { return t.Name != "" }) {
		rows = withoutColumn(rows, slices.Index(rows[0], "NAME"))
	}
	return a.table(rows)
}

func withoutColumn(rows [][]string, i int) [][]string {
	for r := range rows {
		rows[r] = slices.Delete(rows[r], i, i+1)
	}
	return rows
}

// cpuTime shows processor time; nil is unknown.
func cpuTime(seconds *float64) string {
	if seconds == nil {
		return "-"
	}
	if d := time.Duration(*seconds * float64(time.Second)); d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%.2fs", *seconds)
}

func memory(bytes *int64) string {
	if bytes == nil {
		return "-"
	}
	return size(*bytes)
}

func ports(list []int) string {
	if len(list) == 0 {
		return "-"
	}
	words := make([]string, len(list))
	for i, port := range list {
		words[i] = strconv.Itoa(port)
	}
	return strings.Join(words, ",")
}

// called is a task's id, with its name if it has one.
func called(t perdure.TaskView) string { return strings.TrimSpace(t.ID + " " + t.Name) }

// taskFigures is what the list has of a task in columns, on a line: which process it is, and of one that lives how long
// it has run, what it uses and where it listens.
func (a *App) taskFigures(t perdure.TaskView) string {
	words := []string{fmt.Sprintf("pid %d", t.PID)}
	if !t.Live() {
		return words[0]
	}
	if t.Started > 0 {
		words = append(words, a.age(int64(t.Started)))
	}
	if t.CPU != nil {
		words = append(words, "cpu "+cpuTime(t.CPU), memory(t.RSS))
	}
	if len(t.Ports) > 0 {
		words = append(words, "ports "+ports(t.Ports))
	}
	return strings.Join(words, ", ")
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
