package homes

import (
	"context"
	"time"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/task"
)

// TaskView is a task as it stands now, whoever is alive to know. Its JSON is a line of `perdure task list --json`.
type TaskView struct {
	SessionID    string                `json:"session_id"` // whose task it is: of a fork's inherited ones the parent's
	ID           string                `json:"id"`
	Act          string                `json:"act"`
	Command      string                `json:"command"`
	Cwd          string                `json:"cwd"`
	Status       session.CommandStatus `json:"status"`    // running, exited, killed or lost
	PID          int                   `json:"pid"`       // of the command itself, kept after its end
	ExitCode     *int                  `json:"exit_code"` // only when exited
	Signal       string                `json:"signal,omitempty"`
	By           string                `json:"by,omitempty"`     // who killed it
	Reason       string                `json:"reason,omitempty"` // why it is lost
	Name         string                `json:"name,omitempty"`
	Restart      string                `json:"restart,omitempty"`       // after a reboot
	NoRestart    string                `json:"not_restarted,omitempty"` // why not, though it was granted
	LastOutput   string                `json:"last_output,omitempty"`   // the last lines, of a lost one
	Attempt      int                   `json:"attempt"`                 // from 1; the command of an earlier one has ended
	Attempts     []session.TaskAttempt `json:"attempts,omitempty"`      // the earlier ones
	Stragglers   int                   `json:"stragglers,omitempty"`
	Output       int64                 `json:"output_bytes"`            // every byte printed, kept or not
	Position     int64                 `json:"output_position"`         // up to where the model has read
	MissingAfter *int64                `json:"missing_after,omitempty"` // from here on output may be missing: for a time nobody held it
	session.TaskSettings
	MemoryBy string `json:"memory_by,omitempty"` // what bounds its memory: cgroup or rlimit

	Started Stamp   `json:"started_at"`
	Ended   Stamp   `json:"ended_at"`
	Age     float64 `json:"age_seconds"` // since this attempt started, also once it has ended
	Ran     float64 `json:"ran_seconds"` // how long it has run, up to its end

	// What its processes use now, those that it left behind included; the shim does not count. Null when none is left,
	// or where the system does not say.
	Processes int      `json:"processes"`
	CPU       *float64 `json:"cpu_seconds"` // processor time used so far, by the ones that ended too
	RSS       *int64   `json:"rss_bytes"`   // resident memory; pages that several share count for each
	Ports     []int    `json:"ports"`       // TCP ports on which they listen, sorted; never null

	boot string // under which it was started
}

// Live tells whether a process of the task is left.
func (t TaskView) Live() bool { return t.Status == session.CommandRunning || t.Stragglers > 0 }

// Of looks at a session's tasks: what the log says of those that ended, and what their directories and the
// system say of those that still ran when the log was written last.
func (ts Tasks) Of(st *session.State) []TaskView {
	h := ts.home
	return h.taskViews(context.Background(), st.ID, st.Tasks)
}

// One is Of for one task. ok is false when the session has none of that id.
func (ts Tasks) One(st *session.State, id string) (v TaskView, ok bool) {
	h := ts.home
	t := st.Task(id)
	if t == nil {
		return v, false
	}
	return h.taskViews(context.Background(), st.ID, []session.Task{*t})[0], true
}

func (h *Home) taskViews(ctx context.Context, id string, tasks []session.Task) []TaskView {
	out := make([]TaskView, len(tasks))
	for i := range tasks {
		out[i] = h.loggedTask(id, &tasks[i])
	}
	h.lookAt(ctx, out)
	return out
}

// loggedTask is what the log knows of a task.
func (h *Home) loggedTask(id string, t *session.Task) TaskView {
	v := TaskView{
		SessionID: t.Session, ID: t.ID, Act: t.Act, Command: t.Command, Cwd: t.Cwd, Status: t.Status, PID: t.PID,
		ExitCode: t.ExitCode, Signal: t.Signal, By: t.By, Reason: t.Reason, Output: t.Output, Position: t.Position, MissingAfter: t.MissingAfter,
		Started: Stamp(t.Started), Ended: Stamp(t.Ended), Ports: []int{}, boot: t.BootID,
	}
	v.Name, v.Restart, v.NoRestart = t.Name, t.Restart, t.NotRestarted
	v.Attempt, v.Attempts = max(t.Attempt, 1), t.Attempts
	v.TaskSettings = t.TaskSettings
	if v.Lifetime == "" {
		v.Lifetime = session.LifetimeDetached
	}
	if v.Status == session.CommandStarting {
		v.Status = session.CommandRunning // its directory knows better
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
func (h *Home) lookAt(ctx context.Context, tasks []TaskView) {
	r := h.commands()
	targets := make([]task.Target, len(tasks))
	for i, t := range tasks {
		targets[i] = task.Target{Session: t.SessionID, Act: t.Act}
	}
	for i, seen := range r.LookAll(ctx, targets) {
		tasks[i].update(seen)
		tasks[i].use(seen.Use)
		h.lastWords(&tasks[i])
		tasks[i].Ran = tasks[i].Age
		if end := tasks[i].Ended; end > 0 {
			tasks[i].Ran = max(0, time.UnixMilli(int64(end)).Sub(time.UnixMilli(int64(tasks[i].Started))).Seconds())
		}
	}
}

// use notes what the processes use.
func (t *TaskView) use(in task.Inspection) {
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
func (t *TaskView) update(seen task.Seen) {
	st := seen.CommandState
	switch {
	case seen.Err != nil:
		t.Reason = seen.Err.Error()
		return
	case st.Reason == task.ReasonDirMissing && t.Status != session.CommandRunning:
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
	if t.Status != session.CommandRunning || st.Status == session.CommandRunning {
		return
	}
	t.Status, t.Signal, t.By, t.Reason, t.Ended = st.Status, st.Signal, st.By, st.Reason, Stamp(st.Ended)
	if rebooted(st, t.boot) {
		t.Reason = task.ReasonReboot
	}
	if st.Status == session.CommandExited {
		t.ExitCode = st.ExitCode
	}
	if st.Status == session.CommandAbsent {
		t.Status, t.Reason = session.CommandLost, "never_started"
	}
}
