package homes

import (
	"context"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/task"
	"github.com/perdure/perdure/view"
)

// Of looks at a session's tasks: what the log says of those that ended, and what their directories and the
// system say of those that still ran when the log was written last.
func (ts Tasks) Of(st *session.State) []view.Task {
	h := ts.home
	return h.taskViews(context.Background(), st.ID, st.Tasks)
}

// One is Of for one task. ok is false when the session has none of that id.
func (ts Tasks) One(st *session.State, id string) (v view.Task, ok bool) {
	h := ts.home
	t := st.Task(id)
	if t == nil {
		return v, false
	}
	return h.taskViews(context.Background(), st.ID, []session.Task{*t})[0], true
}

func (h *Home) taskViews(ctx context.Context, id string, tasks []session.Task) []view.Task {
	out, boots := make([]view.Task, len(tasks)), make([]string, len(tasks))
	for i := range tasks {
		out[i], boots[i] = h.loggedTask(id, &tasks[i]), tasks[i].BootID
	}
	h.lookAt(ctx, out, boots)
	return out
}

// loggedTask is what the log knows of a task.
func (h *Home) loggedTask(id string, t *session.Task) view.Task {
	v := view.Task{
		SessionID: t.Session, ID: t.ID, Act: t.Act, Command: t.Command, Cwd: t.Cwd, Status: string(t.Status), PID: t.PID,
		ExitCode: t.ExitCode, Signal: t.Signal, By: t.By, Reason: t.Reason, Output: t.Output, Position: t.Position, MissingAfter: t.MissingAfter,
		Started: view.Stamp(t.Started), Ended: view.Stamp(t.Ended), Ports: []int{},
	}
	v.Name, v.Restart, v.NoRestart = t.Name, t.Restart, t.NotRestarted
	v.Attempt, v.Attempts = max(t.Attempt, 1), attemptViews(t.Attempts)
	v.TaskSettings = settingsView(t.TaskSettings)
	if v.Lifetime == "" {
		v.Lifetime = string(session.LifetimeDetached)
	}
	if t.Status == command.Starting {
		v.Status = taskRunning // its directory knows better
	}
	if v.SessionID == "" {
		v.SessionID = id
	}
	if v.Started > 0 {
		v.Age = max(0, h.cfg.Now().Sub(time.UnixMilli(int64(v.Started))).Seconds())
	}
	return v
}

// lookAt brings in what the directories and the system say now. A command that has lost its shim gets another, if this
// program can be one: whoever looks adopts.
func (h *Home) lookAt(ctx context.Context, tasks []view.Task, boots []string) {
	r := h.commands()
	targets := make([]task.Target, len(tasks))
	for i, t := range tasks {
		targets[i] = task.Target{Session: t.SessionID, Act: t.Act}
	}
	for i, seen := range r.LookAll(ctx, targets) {
		update(&tasks[i], seen, boots[i])
		use(&tasks[i], seen.Use)
		h.lastWords(&tasks[i])
		tasks[i].Ran = tasks[i].Age
		if end := tasks[i].Ended; end > 0 {
			tasks[i].Ran = max(0, time.UnixMilli(int64(end)).Sub(time.UnixMilli(int64(tasks[i].Started))).Seconds())
		}
	}
}

// use notes what the processes use.
func use(t *view.Task, in task.Inspection) {
	if !t.Live() || len(in.PIDs) == 0 {
		return
	}
	t.Processes, t.Ports = len(in.PIDs), in.Ports
	if in.RSS > 0 { // a process has memory where the system tells
		cpu := in.CPU.Seconds()
		t.CPU, t.RSS = &cpu, &in.RSS
	}
}

// update brings in what the task's directory says now. The log's word on an end stands.
func update(t *view.Task, seen task.Seen, boot string) {
	st := seen.State
	switch {
	case seen.Err != nil:
		t.Reason = seen.Err.Error()
		return
	case st.Reason == command.ReasonDirMissing && t.Status != taskRunning:
		return
	}
	t.Output, t.Stragglers = max(t.Output, st.Output), st.Stragglers
	if st.MissingAfter != nil {
		t.MissingAfter = st.MissingAfter
	}
	if t.Limits.MemoryBytes > 0 {
		if t.MemoryBy = "rlimit"; st.Cgroup != "" {
			t.MemoryBy = "cgroup"
		}
	}
	if t.PID == 0 {
		t.PID = st.PID
	}
	if t.Status != taskRunning || st.Status == command.Running {
		return
	}
	t.Status, t.Signal, t.By, t.Reason, t.Ended = string(st.Status), st.Signal, st.By, st.Reason, view.Stamp(st.Ended)
	if rebooted(st, boot) {
		t.Reason = command.ReasonReboot
	}
	if st.Status == command.Exited {
		t.ExitCode = st.ExitCode
	}
	if st.Status == command.Absent {
		t.Status, t.Reason = taskLost, command.ReasonNeverStarted
	}
}
