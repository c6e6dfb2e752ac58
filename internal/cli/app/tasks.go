package app

import (
	"context"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/view"
)

// TasksOf lists the tasks of the session that a name means.
func (a *App) TasksOf(ctx context.Context, h *homes.Home, name string) ([]view.Task, error) {
	id, err := a.Resolve(ctx, h, name)
	if err != nil {
		return nil, err
	}
	return h.Tasks().List(ctx, id)
}

// AllTasks lists every session's own tasks.
func (a *App) AllTasks(ctx context.Context, h *homes.Home) ([]view.Task, error) {
	tasks, left, err := h.Tasks().All(ctx)
	for _, e := range left {
		a.Note("left out: %v", e)
	}
	return tasks, err
}

// IsCalled matches tasks by id or name.
func IsCalled(name string) func(view.Task) bool {
	return func(t view.Task) bool { return name != "" && (t.ID == name || t.Name == name) }
}
