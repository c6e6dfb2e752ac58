package homes

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Tasks are the commands of a home's sessions that run under an id of their own: bash_1 and so on. They outlive the
// process that started them. [Home.Tasks] gives it.
type Tasks struct{ home *Home }

// Tasks gives what can be done with tasks.
func (h *Home) Tasks() Tasks { return Tasks{h} }

// List looks at the tasks of one session, the ones that a fork inherited included. Errors: store.ErrNotFound,
// *store.CorruptError.
func (ts Tasks) List(ctx context.Context, id string) ([]view.Task, error) {
	h := ts.home
	info, err := h.store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	tasks, err := h.tasksOf(ctx, info)
	if err != nil {
		return nil, err
	}
	return h.taskViews(ctx, id, tasks), nil
}

// All looks at every session's own tasks; a fork's inherited ones are its parent's. A session that cannot be read
// is left out and its error is in left. Whoever looks adopts: a command that has lost its shim gets another.
func (ts Tasks) All(ctx context.Context) (tasks []view.Task, left []error, err error) {
	h := ts.home
	var boots []string // under which each was started
	q := store.Query{Limit: 1000}
	for {
		page, err := h.store.List(ctx, q)
		if err != nil {
			return nil, nil, err
		}
		lists, errs := h.tasksOfAll(ctx, page.Sessions)
		for i, info := range page.Sessions {
			switch err := errs[i]; {
			case errors.Is(err, store.ErrNotFound):
				continue
			case ctx.Err() != nil:
				return nil, nil, ctx.Err()
			case err != nil:
				left = append(left, fmt.Errorf("tasks of session %s: %w", info.ID, err))
				continue
			}
			for j := range lists[i] {
				if lists[i][j].Session == "" {
					tasks, boots = append(tasks, h.loggedTask(info.ID, &lists[i][j])), append(boots, lists[i][j].BootID)
				}
			}
		}
		if page.Next == "" {
			h.lookAt(ctx, tasks, boots)
			return tasks, left, nil
		}
		q.After = page.Next
	}
}

// tasksOfAll is tasksOf for a page of sessions, on two processors: computing a state takes a while.
func (h *Home) tasksOfAll(ctx context.Context, infos []store.Info) ([][]session.Task, []error) {
	const workers = 2
	lists, errs := make([][]session.Task, len(infos)), make([]error, len(infos))
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < len(infos) && ctx.Err() == nil; i += workers {
				lists[i], errs[i] = h.tasksOf(ctx, infos[i])
			}
		})
	}
	all.Wait()
	return lists, errs
}

// tasksOf reads a session's tasks from its row, or from its state where the row does not know.
func (h *Home) tasksOf(ctx context.Context, info store.Info) ([]session.Task, error) {
	if tasks, ok := engine.ListedTasks(info); ok {
		return tasks, nil
	}
	st, err := h.eng.Load(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	return st.Tasks, nil
}
