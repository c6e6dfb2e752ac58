package perdure

import (
	"context"
	"path/filepath"
	"time"

	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/task"
)

// TaskView is a task as it stands now, whoever is alive to know. Its JSON is a line of `perdure task list --json`.
type TaskView struct {
	SessionID  string                `json:"session_id"` // whose task it is: of a fork's inherited ones the parent's
	ID         string                `json:"id"`
	Act        string                `json:"act"`
	Command    string                `json:"command"`
	Cwd        string                `json:"cwd"`
	Status     session.CommandStatus `json:"status"`    // running, exited, killed or lost
	PID        int                   `json:"pid"`       // of the command itself, kept after its end
	ExitCode   *int                  `json:"exit_code"` // only when exited
	Signal     string                `json:"signal,omitempty"`
	By         string                `json:"by,omitempty"`     // who killed it
	Reason     string                `json:"reason,omitempty"` // why it is lost
	Name       string                `json:"name,omitempty"`
	Restart    string                `json:"restart,omitempty"`       // after a reboot
	NoRestart  string                `json:"not_restarted,omitempty"` // why not, though it was granted
	LastOutput string                `json:"last_output,omitempty"`   // the last lines, of a lost one
	Attempt    int                   `json:"attempt"`                 // from 1; the command of an earlier one has ended
	Attempts   []session.TaskAttempt `json:"attempts,omitempty"`      // the earlier ones
	Stragglers int                   `json:"stragglers,omitempty"`
	Output     int64                 `json:"output_bytes"`    // every byte printed, kept or not
	Position   int64                 `json:"output_position"` // up to where the model has read
	session.TaskSettings
	Started Stamp `json:"started_at"`
	Ended   Stamp `json:"ended_at"`
}

// Live tells whether a process of the task is left.
func (t TaskView) Live() bool { return t.Status == session.CommandRunning || t.Stragglers > 0 }

// TaskViews looks at a session's tasks: what the log says of those that ended, and what their directories say of
// those that still ran when the log was written last.
func (h *Home) TaskViews(st *session.State) []TaskView { return h.taskViews(st.ID, st.Tasks) }

func (h *Home) taskViews(id string, tasks []session.Task) []TaskView {
	out := make([]TaskView, 0, len(tasks))
	for _, t := range tasks {
		v := TaskView{
			SessionID: t.Session, ID: t.ID, Act: t.Act, Command: t.Command, Cwd: t.Cwd, Status: t.Status, PID: t.PID,
			ExitCode: t.ExitCode, Signal: t.Signal, By: t.By, Reason: t.Reason, Output: t.Output, Position: t.Position,
			Started: Stamp(t.Started), Ended: Stamp(t.Ended),
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
		v.update(h.look, t.BootID)
		h.lastWords(&v)
		out = append(out, v)
	}
	return out
}

// lookTime bounds how long one task is looked at. Only adopting an orphan takes longer than a few system calls.
const lookTime = 5 * time.Second

// look reads an act's directory. A command that has lost its shim gets another, if this program can be one: whoever
// looks adopts.
func (h *Home) look(sessionID, act string) (session.CommandState, error) {
	if h.runner == nil {
		return (&task.Runner{Dir: filepath.Join(h.dir, "acts"), Now: h.cfg.Now}).State(sessionID, act)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	return h.runner.Look(ctx, sessionID, act)
}

// update brings in what the task's directory says now. The log's word on an end stands.
func (t *TaskView) update(look func(sessionID, act string) (session.CommandState, error), boot string) {
	st, err := look(t.SessionID, t.Act)
	switch {
	case err != nil:
		t.Reason = err.Error()
		return
	case st.Reason == task.ReasonDirMissing && t.Status != session.CommandRunning:
		return
	}
	t.Output, t.Stragglers = max(t.Output, st.Output), st.Stragglers
	if t.PID == 0 {
		t.PID = st.PID
	}
	if t.Status != session.CommandRunning || st.Status == session.CommandRunning {
		return
	}
	t.Status, t.Signal, t.By, t.Reason, t.Ended = st.Status, st.Signal, st.By, st.Reason, Stamp(st.Ended)
	if rebooted(st, boot) {
		t.Reason = task.ReasonReboot
	}
	if st.Status == session.CommandExited {
		t.ExitCode = st.ExitCode
	}
	if st.Status == session.CommandAbsent {
		t.Status, t.Reason = session.CommandLost, "never_started"
	}
}
