package sessions

import (
	"context"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
)

// maxToldTasks bounds the tasks that a run names at its end.
const maxToldTasks = 5

// TellTasks names what is left after this process: messages that wait, and tasks of which a process lives on, with how
// to find and to end them.
func TellTasks(ctx context.Context, a *app.App, h *homes.Home, id string) {
	st, err := h.State(ctx, id)
	if err != nil {
		return
	}
	called := a.Call(ctx, h, id)
	switch n := len(st.Queue); {
	case n == 0 || st.Lifecycle != session.LifecycleOpen:
	case st.Turn != nil:
		a.Note("messages that wait for the open turn's end: %d", n)
	case n == 1:
		a.Note("1 message waits: perdure -p --resume %s runs it", called)
	default:
		a.Note("%d messages wait: perdure -p --resume %s runs them", n, called)
	}
	tasks := h.Tasks().Live(st)
	if len(tasks) > 0 {
		a.Note("still running:")
	}
	more := max(0, len(tasks)-maxToldTasks)
	for _, t := range tasks[:len(tasks)-more] {
		how := ""
		if t.Status != string(command.Running) {
			how = display.TaskStatus(t) + ", "
		} else if t.Stragglers > 0 {
			how = display.Count(int64(t.Stragglers), "straggler") + ", "
		}
		a.Hint("%s (%s%s): %s", display.Called(t), how, display.TaskFigures(t), display.Shown(display.FirstLine(t.Command), 500))
	}
	if more > 0 {
		a.Hint("and %d more: perdure task list %s", more, called)
	}
	switch len(tasks) {
	case 0:
	case 1:
		a.Hint("perdure task output %s %s, perdure task kill %s %s", called, tasks[0].ID, called, tasks[0].ID)
	default:
		a.Hint("perdure task output %s TASK, perdure task kill %s TASK (or --all)", called, called)
	}
}
