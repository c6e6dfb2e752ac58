package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/perdure/perdure/internal/homes"
	safe "github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

func (a *App) taskCommand() *cobra.Command {
	return group("task", "Background commands: they outlive the agent", a.taskRunCommand(), a.taskListCommand(),
		a.taskOutputCommand(), a.taskKillCommand(), a.taskWatchCommand(), a.taskWaitCommand(), a.taskAttachCommand(), a.taskWriteCommand(),
		a.taskBackgroundCommand(), a.taskRestartCommand(), a.taskRestartPolicyCommand(), a.taskRestoreCommand())
}

// taskFilter says which tasks a list shows.
type taskFilter struct{ all, running bool }

func (a *App) taskListCommand() *cobra.Command {
	var asJSON bool
	var show taskFilter
	c := &cobra.Command{
		Use: "list [ID]", Short: "List the tasks of a session, or of all", Args: rangeArgs(0, 1, "at most one session"),
		Long: "Lists background tasks as they are now, whoever is alive to know. AGE is how long it has run, up to its end,\n" +
			"ENDED when that was; CPU the processor time used so far, MEMORY what is resident of all its processes, PORTS\n" +
			"where they listen, OUTPUT what was printed, kept or not, UNREAD what of it the model has not read. What ended\n" +
			"more than a day ago is left out, but for --all, and on a narrow terminal figures that do not fit. perdure task\n" +
			"watch shows the same, live.",
		Example:           "  perdure task list\n  perdure task list ID --json | jq -r 'select(.ports != []) | .id'",
		ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.verb(cmd, func(ctx context.Context, h *homes.Home) error {
				var tasks []view.Task
				var err error
				if len(args) == 0 {
					tasks, err = a.allTasks(ctx, h)
				} else {
					tasks, err = a.tasksOf(ctx, h, args[0])
				}
				if err != nil {
					return err
				}
				return a.printTasks(a.chosen(tasks, show), len(args) == 0, asJSON)
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
func (a *App) chosen(tasks []view.Task, show taskFilter) (out []view.Task) {
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
		a.note("1 task that ended more than a day ago is left out")
	case old > 1:
		a.note("%d tasks that ended more than a day ago are left out", old)
	}
	if old > 0 {
		a.hint("--all shows them")
	}
	return out
}

func (a *App) tasksOf(ctx context.Context, h *homes.Home, name string) ([]view.Task, error) {
	id, err := a.resolve(ctx, h, name)
	if err != nil {
		return nil, err
	}
	return h.Tasks().List(ctx, id)
}

// allTasks lists every session's own tasks.
func (a *App) allTasks(ctx context.Context, h *homes.Home) ([]view.Task, error) {
	tasks, left, err := h.Tasks().All(ctx)
	for _, e := range left {
		a.note("left out: %v", e)
	}
	return tasks, err
}

// printTasks prints tasks. With session, they are of several.
func (a *App) printTasks(tasks []view.Task, session, asJSON bool) error {
	ids := make([]string, len(tasks))
	for i, t := range tasks {
		ids[i] = t.SessionID
	}
	name := a.shortIDs(ids)
	rows := [][]string{{"SESSION", "TASK", "NAME", "STATUS", "PID", "AGE", "ENDED", "CPU", "MEMORY", "PORTS", "OUTPUT", "UNREAD", "COMMAND"}}
	for _, t := range tasks {
		if asJSON {
			if err := a.json(t); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, []string{
			name(t.SessionID), t.ID, t.Name, taskStatus(t), strconv.Itoa(t.PID), ran(t), a.endedAgo(t), cpuTime(t.CPU), memory(t.RSS),
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
	if !slices.ContainsFunc(tasks, func(t view.Task) bool { return t.Ended > 0 }) {
		rows = withoutColumn(rows, slices.Index(rows[0], "ENDED"))
	}
	if !slices.ContainsFunc(tasks, func(t view.Task) bool { return t.Name != "" }) {
		rows = withoutColumn(rows, slices.Index(rows[0], "NAME"))
	}
	columns, _ := a.size()
	return a.table(narrow(rows, columns, "UNREAD", "CPU", "MEMORY", "PORTS", "OUTPUT", "PID", "ENDED", "AGE"))
}

// ran is how long a task has run, up to its end.
func ran(t view.Task) string {
	if t.Started == 0 {
		return "-"
	}
	return safe.Span(time.Duration(t.Ran * float64(time.Second)))
}

func (a *App) endedAgo(t view.Task) string {
	if t.Ended == 0 {
		return "-"
	}
	return a.ago(int64(t.Ended))
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
func called(t view.Task) string { return strings.TrimSpace(t.ID + " " + t.Name) }

// taskFigures is what the list has of a task in columns, on a line: which process it is, and of one that lives how long
// it has run, what it uses and where it listens.
func (a *App) taskFigures(t view.Task) string {
	words := []string{fmt.Sprintf("pid %d", t.PID)}
	if !t.Live() {
		return words[0]
	}
	if t.Started > 0 {
		words = append(words, ran(t))
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
func taskStatus(t view.Task) string {
	s := t.Status
	switch {
	case t.Status == string(session.CommandExited) && t.ExitCode != nil:
		s = fmt.Sprintf("exited %d", *t.ExitCode)
	case t.Status == string(session.CommandKilled):
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
