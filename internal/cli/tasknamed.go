package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/session"
)

// namedTask finds a task by session and id, or by an id or a name that one task of the home has.
func (a *App) namedTask(ctx context.Context, h *perdure.Home, args []string) (perdure.TaskView, error) {
	if len(args) == 2 {
		id, err := resolve(ctx, h, args[0])
		if err != nil {
			return perdure.TaskView{}, err
		}
		st, err := h.State(ctx, id)
		if err != nil {
			return perdure.TaskView{}, err
		}
		return findTask(h, st, args[1])
	}
	name := args[0]
	tasks, err := a.allTasks(ctx, h)
	if err != nil {
		return perdure.TaskView{}, err
	}
	found := slices.DeleteFunc(slices.Clone(tasks), func(t perdure.TaskView) bool { return t.ID != name && t.Name != name })
	if live := slices.DeleteFunc(slices.Clone(found), func(t perdure.TaskView) bool { return !t.Live() }); len(live) == 1 {
		return live[0], nil
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return a.onlyTask(ctx, h, name)
	}
	const most = 5
	var where []string
	for _, t := range found[:min(len(found), most)] {
		where = append(where, t.SessionID+" "+t.ID)
	}
	if len(found) > most {
		where = append(where, "…")
	}
	return perdure.TaskView{}, &exitError{
		code: exitUsage, text: fmt.Sprintf("%d tasks are called %q", len(found), name), hint: "name the session too: " + strings.Join(where, ", "),
	}
}

// onlyTask is the task of a session that has no other.
func (a *App) onlyTask(ctx context.Context, h *perdure.Home, name string) (perdure.TaskView, error) {
	none := &exitError{
		code: exitMissing, text: fmt.Sprintf("no session has a task %q", name), hint: "perdure task list shows them all",
	}
	id, err := resolve(ctx, h, name)
	if err != nil {
		return perdure.TaskView{}, none
	}
	tasks, err := h.Tasks(ctx, id)
	switch {
	case err != nil:
		return perdure.TaskView{}, err
	case len(tasks) == 0:
		return perdure.TaskView{}, none
	case len(tasks) > 1:
		return perdure.TaskView{}, usageError("session %s has %d tasks: want a session and a task", id, len(tasks))
	}
	return tasks[0], nil
}

// findTask finds one task of a session by its id, or by a name that only one has. An unknown one is told with those
// that there are.
func findTask(h *perdure.Home, st *session.State, name string) (perdure.TaskView, error) {
	if t, ok := h.TaskView(st, name); ok {
		return t, nil
	}
	var ids, named []string
	for _, t := range st.Tasks {
		ids = append(ids, t.ID)
		if t.Name == name && name != "" {
			named = append(named, t.ID)
		}
	}
	switch {
	case len(named) == 1:
		t, _ := h.TaskView(st, named[0])
		return t, nil
	case len(named) > 1:
		return perdure.TaskView{}, usageError("session %s has %d tasks named %q: %s", st.ID, len(named), name, strings.Join(named, ", "))
	}
	e := &exitError{code: exitMissing, text: fmt.Sprintf("session %s has no task %q", st.ID, name), hint: "it has no tasks"}
	if len(ids) > 0 {
		e.hint = "nearest: " + strings.Join(nearest(name, ids), ", ")
	}
	return perdure.TaskView{}, e
}
