package session

import (
	"cmp"
	"encoding/json"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/store"
)

// RestartOnReboot is the policy of a task that a human wants to run again after the machine restarted. Any other task
// has none, which is written as "".
const RestartOnReboot = "on-reboot"

// CommandDigest names what a task runs and where. A human's grant to run it again is for this alone.
func CommandDigest(argv []string, command, cwd string) store.Digest {
	b, err := json.Marshal([]any{argv, command, cwd})
	if err != nil {
		return store.Digest{} // text always encodes; no digest covers nothing
	}
	return store.Sum(b)
}

// Covered reports whether a human granted that exactly this command runs again after a reboot.
func (t *Task) Covered() bool {
	return t.Restart == RestartOnReboot && !t.Bound.IsZero() && t.Bound == CommandDigest(t.Argv, t.Command, t.Cwd)
}

// TaskRestartSet is a human's word on what becomes of a task after a reboot: on-reboot, or empty for nothing.
type TaskRestartSet struct {
	headOnly
	Task    string       `json:"task"`
	Restart string       `json:"restart"`
	Bound   store.Digest `json:"bound,omitzero"` // of the command that it is granted for; set by the holder
}

func (b *TaskRestartSet) summary() string {
	return b.Task + ": after a reboot " + cmp.Or(b.Restart, "never")
}

func (b *TaskRestartSet) apply(s *State, e store.Event) {
	switch t := s.Task(b.Task); {
	case t == nil:
		s.fault(e, "no task %s", b.Task)
	case t.Session != "":
		s.fault(e, "task %s is of session %s: only that one may restart it", b.Task, t.Session)
	default:
		t.Restart, t.Bound = b.Restart, b.Bound
		t.Due = t.Due && b.Restart != ""
	}
}

// TaskNotRestarted says why a task that was to run again after a reboot does not.
type TaskNotRestarted struct {
	headOnly
	Task   string `json:"task"`
	Reason string `json:"reason"`
}

func (b *TaskNotRestarted) summary() string { return b.Task + ": " + b.Reason }

func (b *TaskNotRestarted) apply(s *State, e store.Event) {
	t := s.Task(b.Task)
	if t == nil {
		s.fault(e, "no task %s", b.Task)
		return
	}
	t.Due, t.NotRestarted = false, b.Reason
}

// rebooted notes that a task is due to run again: the reboot that its policy is for took it, or took the attempt that
// was to follow, before that provably began. An attempt that failed to begin while its holder lived is not repeated.
func (t *Task) rebooted(st command.State, interrupted bool) {
	again := st.Status == command.Lost && st.Reason == command.ReasonReboot || st.By == command.BySystem ||
		st.Status == command.Absent && t.Cause == command.ReasonReboot && interrupted
	t.Due = again && t.Restart == RestartOnReboot && t.Session == "" && t.Kill == "" // who wanted its end has it
}

// GoingDown reports whether a task was ended by the system and the given boot is still the one that it ran in: it may be a
// shutdown, and what is due after the reboot has to wait for that.
func (t *Task) GoingDown(boot string) bool { return t.By == command.BySystem && t.BootID == boot }

// RestartTask asks to run a task again that a reboot took, if today's rules still let it; its outcome is task.requested
// or task.not_restarted.
type RestartTask struct{ Task string }

func (RestartTask) do() {}

// restarts adds what is due to run again. A session that is paused, or over, starts nothing.
func (s *State) restarts(as []Action) []Action {
	if s.Lifecycle != LifecycleOpen {
		return as
	}
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.Due && t.Session == "" && !t.Live() && !s.expired(t) && !t.GoingDown(s.Holder.BootID) {
			as = append(as, Action{ID: "restart." + t.ID, Do: RestartTask{Task: t.ID}})
		}
	}
	return as
}
