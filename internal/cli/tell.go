package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/session"
)

// maxToldTasks bounds the tasks that a run names at its end.
const maxToldTasks = 5

// tellTasks names what is left after this process: messages that wait, and tasks of which a process lives on, with how
// to find and to end them.
func (a *App) tellTasks(ctx context.Context, h *perdure.Home, id string) {
	st, err := h.State(ctx, id)
	if err != nil {
		return
	}
	switch n := len(st.Queue); {
	case n == 0 || st.Lifecycle != session.LifecycleOpen:
	case st.Turn != nil:
		a.note("messages that wait for the open turn's end: %d", n)
	case n == 1:
		a.note("1 message waits: perdure -p --resume %s runs it", id)
	default:
		a.note("%d messages wait: perdure -p --resume %s runs them", n, id)
	}
	tasks := h.Tasks().Live(st)
	if len(tasks) > 0 {
		a.note("still running:")
	}
	more := max(0, len(tasks)-maxToldTasks)
	for _, t := range tasks[:len(tasks)-more] {
		how := ""
		if t.Status != session.CommandRunning {
			how = taskStatus(t) + ", "
		} else if t.Stragglers > 0 {
			how = fmt.Sprintf("%d stragglers, ", t.Stragglers)
		}
		a.hint("%s (%s%s): %s", called(t), how, a.taskFigures(t), shown(firstLine(t.Command), 500))
	}
	if more > 0 {
		a.hint("and %d more: perdure task list %s", more, id)
	}
	switch len(tasks) {
	case 0:
	case 1:
		a.hint("perdure task output %s %s, perdure task kill %s %s", id, tasks[0].ID, id, tasks[0].ID)
	default:
		a.hint("perdure task output %s TASK, perdure task kill %s TASK (or --all)", id, id)
	}
}

func firstLine(s string) string {
	line, rest, cut := strings.Cut(s, "\n")
	if cut && rest != "" {
		return line + " …"
	}
	return line
}
