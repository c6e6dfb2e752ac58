package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// errNoTask refuses an empty name, as of a variable that is not set: a task without a name is not meant by it.
var errNoTask = app.UsageError("a task is needed: give its id or name")

// namedTask finds the task that arguments name: a session and a task of it, or a task by itself.
func namedTask(ctx context.Context, a *app.App, h *homes.Home, args []string) (view.Task, error) {
	if len(args) == 1 {
		return taskOfHome(ctx, a, h, args[0])
	}
	id, err := a.Resolve(ctx, h, args[0])
	if err != nil {
		return view.Task{}, err
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return view.Task{}, err
	}
	return findTask(a, h, st, args[1])
}

// namedTasks finds the tasks that arguments name: a session and tasks of it, or tasks by themselves.
func namedTasks(ctx context.Context, a *app.App, h *homes.Home, args []string) ([]view.Task, error) {
	var inSession error
	if len(args) > 1 {
		var tasks []view.Task
		if tasks, inSession = tasksIn(ctx, a, h, args[0], args[1:]); inSession == nil {
			return tasks, nil
		}
		if all, err := a.AllTasks(ctx, h); err != nil || !slices.ContainsFunc(all, app.IsCalled(args[0])) {
			return nil, errors.Join(err, inSession)
		}
	}
	tasks := make([]view.Task, len(args))
	for i, name := range args {
		var err error
		if tasks[i], err = taskOfHome(ctx, a, h, name); err != nil {
			return nil, err
		}
	}
	return tasks, nil
}

func tasksIn(ctx context.Context, a *app.App, h *homes.Home, name string, names []string) ([]view.Task, error) {
	id, err := a.Resolve(ctx, h, name)
	if err != nil {
		return nil, err
	}
	st, err := h.State(ctx, id)
	if err != nil {
		return nil, err
	}
	tasks := make([]view.Task, len(names))
	for i, name := range names {
		if tasks[i], err = findTask(a, h, st, name); err != nil {
			return nil, err
		}
		if owner := tasks[i].SessionID; owner != id {
			return nil, &app.ExitError{
				Code: app.ExitFailed, Text: fmt.Sprintf("task %s belongs to session %s, from which %s was forked", name, owner, id),
				Hint: fmt.Sprintf("perdure task kill %s %s ends it there", owner, name),
			}
		}
	}
	return tasks, nil
}

// taskAnd is namedTask for verbs that take one more argument, which may be left out if it is optional: it is the last.
func taskAnd(ctx context.Context, a *app.App, h *homes.Home, args []string, optional bool) (view.Task, []string, error) {
	n := len(args) - 1
	if optional && n == 0 {
		n = 1
	}
	if optional && n == 1 && len(args) == 2 { // a session and a task, or a task and the rest
		if tasks, err := tasksIn(ctx, a, h, args[0], args[1:]); err == nil {
			return tasks[0], nil, nil
		}
	}
	t, err := namedTask(ctx, a, h, args[:n])
	return t, args[n:], err
}

// taskOfHome finds a task by an id or a name. Of several it is the one that runs; of several with an id that have all
// ended, the newest. Which it was, is told.
func taskOfHome(ctx context.Context, a *app.App, h *homes.Home, name string) (view.Task, error) {
	if name == "" {
		return view.Task{}, errNoTask
	}
	tasks, err := a.AllTasks(ctx, h)
	if err != nil {
		return view.Task{}, err
	}
	called := app.IsCalled(name)
	found := slices.DeleteFunc(tasks, func(t view.Task) bool { return !called(t) })
	if len(found) == 0 {
		return onlyTask(ctx, a, h, name)
	}
	if t, ok := oneOf(a, found, name); ok {
		return t, nil
	}
	if !slices.ContainsFunc(found, func(t view.Task) bool { return t.Live() || t.ID != name }) {
		t := slices.MaxFunc(found, func(a, b view.Task) int { return cmp.Compare(a.Started, b.Started) })
		a.Note("%s %s is the newest of %d that have ended", t.SessionID, t.ID, len(found))
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
	return view.Task{}, &app.ExitError{
		Code: app.ExitUsage, Text: fmt.Sprintf("%d tasks are called %q", len(found), name), Hint: "name the session too: " + strings.Join(where, ", "),
	}
}

// oneOf is the only task of some, or the only one that runs, which is told.
func oneOf(a *app.App, found []view.Task, name string) (view.Task, bool) {
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
	a.Note("%s %s runs; %s", live[0].SessionID, live[0].ID, others)
	return live[0], true
}

// onlyTask is the task of a session that has no other.
func onlyTask(ctx context.Context, a *app.App, h *homes.Home, name string) (view.Task, error) {
	none := &app.ExitError{
		Code: app.ExitMissing, Text: fmt.Sprintf("no session has a task %q", name), Hint: "perdure task list shows them all",
	}
	id, err := a.Resolve(ctx, h, name)
	var unclear *app.ExitError
	switch {
	case errors.As(err, &unclear) && unclear.Code == app.ExitUsage:
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
		e := &app.ExitError{Code: app.ExitUsage, Text: fmt.Sprintf("session %s has %d tasks: want a session and a task", id, len(tasks))}
		for i, t := range tasks {
			if i == app.MaxTwins {
				e.More = append(e.More, "… and more: perdure task list "+id+" shows them")
				break
			}
			e.More = append(e.More, fmt.Sprintf("%s: %s: %s", display.Called(t), display.TaskStatus(t), display.Line(t.Command, display.MaxCell)))
		}
		return view.Task{}, e
	}
	return tasks[0], nil
}

// findTask finds one task of a session by its id, or by a name that only one has, or only one that runs. An unknown one
// is told with those that there are.
func findTask(a *app.App, h *homes.Home, st *session.State, name string) (view.Task, error) {
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
		if t, ok := oneOf(a, found, name); ok {
			return t, nil
		}
		return view.Task{}, app.UsageError("session %s has %d tasks named %q: %s", st.ID, len(named), name, strings.Join(named, ", "))
	}
	e := &app.ExitError{Code: app.ExitMissing, Text: fmt.Sprintf("session %s has no task %q", st.ID, name), Hint: "it has no tasks"}
	if len(ids) > 0 {
		e.Hint = "nearest: " + strings.Join(display.Nearest(name, ids), ", ")
	}
	return view.Task{}, e
}
