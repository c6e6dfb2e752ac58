package cli

import (
	"context"

	"github.com/perdure/perdure"
)

func (a *App) tasksOf(ctx context.Context, h *perdure.Home, name string) ([]perdure.TaskView, error) {
	id, err := a.resolve(ctx, h, name)
	if err != nil {
		return nil, err
	}
	return h.Tasks().List(ctx, id)
}

// allTasks lists every session's own tasks.
func (a *App) allTasks(ctx context.Context, h *perdure.Home) ([]perdure.TaskView, error) {
	tasks, left, err := h.Tasks().All(ctx)
	for _, e := range left {
		a.note("left out: %v", e)
	}
	return tasks, err
}

// isCalled matches tasks by id or name.
func isCalled(name string) func(perdure.TaskView) bool {
	return func(t perdure.TaskView) bool { return name != "" && (t.ID == name || t.Name == name) }
}
