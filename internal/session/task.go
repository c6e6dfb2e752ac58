package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/store"
)

// Task is a command that was made visible under an id of its own, bash_1 and so on. Ids are never reused.
type Task struct {
	ID             string `json:"id"`
	Session        string `json:"session,omitempty"` // whose task it is, when not this session's: never signalled then
	Act            string `json:"act"`               // names its act directory
	Command        string `json:"command"`
	Cwd            string `json:"cwd"`
	PID            int    `json:"pid"`
	StartTicks     uint64 `json:"start_ticks"`
	BootID         string `json:"boot_id"`
	command.Ending        // Status while it runs, too; Output only as of its end
	MissingAfter   *int64 `json:"missing_after,omitempty"` // from where on output may be missing, see command.State
	Position       int64  `json:"output_position"`         // up to where the model has read
	Started        int64  `json:"started_at"`
	Ended          int64  `json:"ended_at,omitempty"`
	EndSeq         int64  `json:"end_seq,omitempty"` // of the event that says so; a fork's inherited ones count down from 0
	Kill           string `json:"kill,omitempty"`    // who asked for its end
	Told           bool   `json:"told,omitempty"`    // the model knows that it ended

	// Of tasks that were asked for as such, not as a model's background command.
	Key          string        `json:"key,omitempty"`           // idempotency key of the request
	Name         string        `json:"name,omitempty"`          // for people
	Argv         []string      `json:"argv,omitempty"`          // run without a shell; empty: Command is shell text
	Restart      string        `json:"restart,omitempty"`       // after a reboot: never (empty) or on-reboot, granted by a human
	Bound        store.Digest  `json:"restart_bound,omitzero"`  // of the command that this was granted for
	Due          bool          `json:"restart_due,omitempty"`   // a reboot took it, and its policy was not carried out yet
	Cause        string        `json:"cause,omitempty"`         // of the attempt: reboot, when the policy and nobody else asked for it
	NotRestarted string        `json:"not_restarted,omitempty"` // why its policy was not carried out after the last reboot
	Requested    int64         `json:"requested_seq,omitempty"` // of the event that asked for this attempt
	Epoch        int64         `json:"epoch,omitempty"`         // of the request that is to be carried out
	Attempt      int           `json:"attempt,omitempty"`       // from 1; 0 is the only one
	Attempts     []TaskAttempt `json:"attempts,omitempty"`      // the earlier ones, oldest first

	TaskSettings
	Turn   int     `json:"turn,omitempty"`   // in which it was started, if its lifetime is that turn
	Inputs []Input `json:"inputs,omitempty"` // writes without an outcome, oldest first
}

// TaskAttempt is an earlier run of a task under the same id.
type TaskAttempt struct {
	Act string `json:"act"`
	command.Ending
	Started int64 `json:"started_at"`
	Ended   int64 `json:"ended_at,omitempty"`
}

// maxAttempts bounds the earlier runs that a task remembers.
const maxAttempts = 16

// Live reports whether the task's command runs or is about to.
func (t *Task) Live() bool { return t.Status == command.Running || t.Status == command.Starting }

// CommandState is what the log says about the task's command, for when its directory says nothing.
func (t *Task) CommandState() command.State {
	st := t.Ending.State()
	st.MissingAfter, st.Started, st.Ended = t.MissingAfter, t.Started, t.Ended
	return st
}

// Task finds a task by id.
func (s *State) Task(id string) *Task {
	for i := range s.Tasks {
		if s.Tasks[i].ID == id {
			return &s.Tasks[i]
		}
	}
	return nil
}

// TaskStarted names a running command.
type TaskStarted struct {
	headOnly
	Task Task `json:"task"`
}

func (b *TaskStarted) summary() string {
	return fmt.Sprintf("%s: pid %d %s", b.Task.ID, b.Task.PID, b.Task.Command)
}

func (b *TaskStarted) apply(s *State, e store.Event) {
	if old := s.Task(b.Task.ID); old != nil {
		if old.Status != command.Starting || old.Act != b.Task.Act {
			s.fault(e, "task %s exists", b.Task.ID)
			return
		}
		old.PID, old.StartTicks, old.BootID = b.Task.PID, b.Task.StartTicks, b.Task.BootID
		old.Started, old.Status = e.Time, command.Running
		return
	}
	t := b.Task
	t.Started, t.Status = e.Time, command.Running
	// What a foreground command left behind was not counted when it started. Its id is not given again either, even when
	// it has long left the list of those that ended.
	if n, err := strconv.Atoi(strings.TrimPrefix(t.ID, "bash_")); err == nil {
		s.NextTask = max(s.NextTask, n)
	}
	s.Tasks = append(s.Tasks, t)
}

// TaskExited says how a task ended, as its shim recorded it.
type TaskExited struct {
	headOnly
	Task  string        `json:"task"`
	State command.State `json:"state"`
}

func (b *TaskExited) summary() string { return b.Task + ": " + string(b.State.Status) }

func (b *TaskExited) apply(s *State, e store.Event) {
	t := s.Task(b.Task)
	if t == nil {
		s.fault(e, "no task %s", b.Task)
		return
	}
	if !t.Live() {
		return // the same end, seen twice
	}
	st := b.State
	t.Ending, t.MissingAfter, t.Ended, t.EndSeq = st.Ending(), st.MissingAfter, e.Time, e.Seq
	t.rebooted(st, t.Epoch < s.Epoch)
	s.Workspace.Unsure = e.Seq
	if t.Status == command.Absent {
		t.Status, t.Reason = command.Lost, command.ReasonNeverStarted
	}
	s.boundTasks()
}

// boundTasks drops the task that ended longest ago when one too many has ended.
func (s *State) boundTasks() {
	ended, oldest := 0, -1
	for i := range s.Tasks {
		if t := &s.Tasks[i]; !t.Live() {
			ended++
			if oldest < 0 || t.EndSeq < s.Tasks[oldest].EndSeq {
				oldest = i
			}
		}
	}
	if ended > maxTasks {
		s.Tasks = slices.Delete(s.Tasks, oldest, oldest+1)
		s.Dropped.Tasks++
	}
}

// KillTask asks to end a task's whole tree; its end is then reported as task.exited. Intend: the log does not say yet
// that it is to end, so task.signalled comes first.
type KillTask struct {
	Task, By string
	Intend   bool
}

func (KillTask) do() {}

// TaskSignalled is the intent to end a task: logged before the signal, so that its death is attributed.
type TaskSignalled struct {
	headOnly
	Task   string `json:"task"`
	Signal string `json:"signal"`
	By     string `json:"by"`
}

func (b *TaskSignalled) summary() string { return b.Task + ": " + b.Signal + " by " + b.By }

func (b *TaskSignalled) apply(s *State, e store.Event) {
	switch t := s.Task(b.Task); {
	case t == nil:
		s.fault(e, "no task %s", b.Task)
	case t.Session != "":
		s.fault(e, "task %s is of session %s: only that one may end it", b.Task, t.Session)
	case t.Kill == "": // the first wish is what ends it
		t.Kill, t.Due = b.By, false
	}
}

// TaskRead moves the model's output position of a task. It is appended with the tool result that used the output.
type TaskRead struct {
	headOnly
	Task     string `json:"task"`
	Position int64  `json:"position"`
	Gap      int64  `json:"gap,omitempty"`   // bytes that were no longer kept
	Ended    bool   `json:"ended,omitempty"` // the result told that the task has ended
}

func (b *TaskRead) summary() string { return fmt.Sprintf("%s up to byte %d", b.Task, b.Position) }

func (b *TaskRead) apply(s *State, e store.Event) {
	t := s.Task(b.Task)
	if t == nil {
		s.fault(e, "no task %s", b.Task)
		return
	}
	t.Position = max(t.Position, b.Position)
	t.Told = t.Told || b.Ended
}
