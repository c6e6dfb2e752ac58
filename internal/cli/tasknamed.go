package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// errNoTask refuses an empty name, as of a variable that is not set: a task without a name is not meant by it.
var errNoTask = usageError("a task is needed: give its id or name")

// namedTask finds the task that arguments name: a session and a task of it, or a task by itself.
func (a *App) namedTask(ctx context.Context, h *homes.Home, args []string) (view.Task, error) {
	if len(args) == 1 {
		return a.taskOfHome(ctx, h, args[0])
	}
	id, err := a.resolve(ctx, h, args[0])
	if err != nil {
		return view.Task{}, err
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return view.Task{}, err
	}
	return a.findTask(h, st, args[1])
}

// namedTasks finds the tasks that arguments name: a session and tasks of it, or tasks by themselves.
func (a *App) namedTasks(ctx context.Context, h *homes.Home, args []string) ([]view.Task, error) {
	var inSession error
	if len(args) > 1 {
		var tasks []view.Task
		if tasks, inSession = a.tasksIn(ctx, h, args[0], args[1:]); inSession == nil {
			return tasks, nil
		}
		if all, err := a.allTasks(ctx, h); err != nil || !slices.ContainsFunc(all, isCalled(args[0])) {
			return nil, errors.Join(err, inSession)
		}
	}
	tasks := make([]view.Task, len(args))
	for i, name := range args {
		var err error
		if tasks[i], err = a.taskOfHome(ctx, h, name); err != nil {
			return nil, err
		}
	}
	return tasks, nil
}

// isCalled matches tasks by id or name.
func isCalled(name string) func(view.Task) bool {
	return func(t view.Task) bool { return name != "" && (t.ID == name || t.Name == name) }
}

func (a *App) tasksIn(ctx context.Context, h *homes.Home, name string, names []string) ([]view.Task, error) {
	id, err := a.resolve(ctx, h, name)
	if err != nil {
		return nil, err
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	tasks := make([]view.Task, len(names))
	for i, name := range names {
		if tasks[i], err = a.findTask(h, st, name); err != nil {
			return nil, err
		}
		if owner := tasks[i].SessionID; owner != id {
			return nil, &exitError{
				code: exitFailed, text: fmt.Sprintf("task %s belongs to session %s, from which %s was forked", name, owner, id),
				hint: fmt.Sprintf("perdure task kill %s %s ends it there", owner, name),
			}
		}
	}
	return tasks, nil
}

// taskAnd is namedTask for verbs that take one more argument, which may be left out if it is optional: it is the last.
func (a *App) taskAnd(ctx context.Context, h *homes.Home, args []string, optional bool) (view.Task, []string, error) {
	n := len(args) - 1
	if optional && n == 0 {
		n = 1
	}
	if optional && n == 1 && len(args) == 2 { // a session and a task, or a task and the rest
		if tasks, err := a.tasksIn(ctx, h, args[0], args[1:]); err == nil {
			return tasks[0], nil, nil
		}
	}
	t, err := a.namedTask(ctx, h, args[:n])
	return t, args[n:], err
}

// taskOfHome finds a task by an id or a name. Of several it is the one that runs; of several with an id that have all
// ended, the newest. Which it was, is told.
func (a *App) taskOfHome(ctx context.Context, h *homes.Home, name string) (view.Task, error) {
	if name == "" {
		return view.Task{}, errNoTask
	}
	tasks, err := a.allTasks(ctx, h)
	if err != nil {
		return view.Task{}, err
	}
	called := isCalled(name)
	found := slices.DeleteFunc(tasks, func(t view.Task) bool { return !called(t) })
	if len(found) == 0 {
		return a.onlyTask(ctx, h, name)
	}
	if t, ok := a.oneOf(found, name); ok {
		return t, nil
	}
	if !slices.ContainsFunc(found, func(t view.Task) bool { return t.Live() || t.ID != name }) {
		t := slices.MaxFunc(found, func(a, b view.Task) int { return cmp.Compare(a.Started, b.Started) })
		a.note("%s %s is the newest of %d that have ended", t.SessionID, t.ID, len(found))
		return t, nil
	}
	const most = 5
	var where []string
	for _, t := range found[:min(len(found), most)] {
		where = append(where, t.SessionID+" "+t.ID)
	}
	if len(found) > most {
		where = append(where, "…")
	}
	return view.Task{}, &exitError{
		code: exitUsage, text: fmt.Sprintf("%d tasks are called %q", len(found), name), hint: "name the session too: " + strings.Join(where, ", "),
	}
}

// oneOf is the only task of some, or the only one that runs, which is told.
func (a *App) oneOf(found []view.Task, name string) (view.Task, bool) {
	if len(found) == 1 {
		return found[0], true
	}
	live := slices.DeleteFunc(slices.Clone(found), func(t view.Task) bool { return !t.Live() })
	if len(live) != 1 {
		return view.Task{}, false
	}
	others := fmt.Sprintf("%d other tasks called %q have ended", len(found)-1, name)
	if len(found) == 2 {
		others = fmt.Sprintf("another task called %q has ended", name)
	}
	a.note("%s %s runs; %s", live[0].SessionID, live[0].ID, others)
	return live[0], true
}

// onlyTask is the task of a session that has no other.
func (a *App) onlyTask(ctx context.Context, h *homes.Home, name string) (view.Task, error) {
	none := &exitError{
		code: exitMissing, text: fmt.Sprintf("no session has a task %q", name), hint: "perdure task list shows them all",
	}
	id, err := a.resolve(ctx, h, name)
	var unclear *exitError
	switch {
	case errors.As(err, &unclear) && unclear.code == exitUsage:
		return view.Task{}, err
	case err != nil:
		return view.Task{}, none
	}
	tasks, err := h.Tasks().List(ctx, id)
	switch {
	case err != nil:
		return view.Task{}, err
	case len(tasks) == 0:
		return view.Task{}, none
	case len(tasks) > 1:
		e := &exitError{code: exitUsage, text: fmt.Sprintf("session %s has %d tasks: want a session and a task", id, len(tasks))}
		for i, t := range tasks {
			if i == maxTwins {
				e.more = append(e.more, "… and more: perdure task list "+id+" shows them")
				break
			}
			e.more = append(e.more, fmt.Sprintf("%s: %s: %s", called(t), taskStatus(t), oneline(t.Command, maxCell)))
		}
		return view.Task{}, e
	}
	return tasks[0], nil
}

// findTask finds one task of a session by its id, or by a name that only one has, or only one that runs. An unknown one
// is told with those that there are.
func (a *App) findTask(h *homes.Home, st *session.State, name string) (view.Task, error) {
	if name == "" {
		return view.Task{}, errNoTask
	}
	if t, ok := h.Tasks().One(st, name); ok {
		return t, nil
	}
	var ids, named []string
	for _, t := range st.Tasks {
		ids = append(ids, t.ID)
		if t.Name == name {
			named = append(named, t.ID)
		}
	}
	switch {
	case len(named) == 1:
		t, _ := h.Tasks().One(st, named[0])
		return t, nil
	case len(named) > 1:
		var found []view.Task
		for _, id := range named {
			if t, ok := h.Tasks().One(st, id); ok {
				found = append(found, t)
			}
		}
		if t, ok := a.oneOf(found, name); ok {
			return t, nil
		}
		return view.Task{}, usageError("session %s has %d tasks named %q: %s", st.ID, len(named), name, strings.Join(named, ", "))
	}
	e := &exitError{code: exitMissing, text: fmt.Sprintf("session %s has no task %q", st.ID, name), hint: "it has no tasks"}
	if len(ids) > 0 {
		e.hint = "nearest: " + strings.Join(nearest(name, ids), ", ")
	}
	return view.Task{}, e
}
