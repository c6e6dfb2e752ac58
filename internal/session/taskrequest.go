package session

import (
	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/store"
)

// TaskRequested is the intent to run a task: a new one, or another attempt of one that has ended. It is durable before
// the command starts.
type TaskRequested struct {
	headOnly
	Task    string       `json:"task"` // its id; in an inbox item empty for a new one
	Act     string       `json:"act"`  // of this attempt; set by the holder
	Epoch   int64        `json:"epoch"`
	Key     string       `json:"key,omitempty"` // idempotency key, to find the task by
	Name    string       `json:"name,omitempty"`
	Argv    []string     `json:"argv,omitempty"`
	Command string       `json:"command"` // shell text, or Argv for the eyes
	Cwd     string       `json:"cwd"`
	Restart string       `json:"restart,omitempty"`
	Bound   store.Digest `json:"restart_bound,omitzero"` // of the command that Restart is granted for; set by the holder
	Cause   string       `json:"cause,omitempty"`        // reboot, when the policy and nobody else asks for it
	TaskSettings
}

func (b *TaskRequested) summary() string { return b.Task + ": " + b.Command }

func (b *TaskRequested) apply(s *State, e store.Event) {
	fresh := Task{
		ID: b.Task, Act: b.Act, Epoch: b.Epoch, Key: b.Key, Name: b.Name, Argv: b.Argv, Command: b.Command, Cwd: b.Cwd,
		Restart: b.Restart, Bound: b.Bound, Cause: b.Cause, Requested: e.Seq, Attempt: 1,
		Ending:       command.Ending{Status: command.Starting},
		TaskSettings: b.TaskSettings,
	}
	if b.Lifetime == LifetimeTurn {
		fresh.Turn = s.Turns
	}
	old := s.Task(b.Task)
	switch {
	case old == nil:
		s.NextTask++
		s.Tasks = append(s.Tasks, fresh)
		return
	case old.Live() || old.Session != "":
		s.fault(e, "task %s runs, or is another session's", b.Task)
		return
	}
	fresh.Attempt = max(old.Attempt, 1) + 1
	fresh.Attempts = append(append([]TaskAttempt{}, old.Attempts...), TaskAttempt{
		Act: old.Act, Ending: old.Ending, Started: old.Started, Ended: old.Ended,
	})
	if n := len(fresh.Attempts) - maxAttempts; n > 0 {
		fresh.Attempts = fresh.Attempts[n:]
	}
	fresh.Inputs = old.Inputs // what waits is meant for the former attempt, and is told so
	*old = fresh
}

// StartTask asks to start a task whose start was requested; its outcome is task.started or task.exited. Settle: the
// request was an earlier holder's, so it is looked up whether it was carried out, and it is not carried out now.
type StartTask struct {
	Task   string
	Settle bool
}

func (StartTask) do() {}

// starts adds what must be started.
func (s *State) starts(as []Action) []Action {
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.Status == command.Starting && t.Session == "" {
			as = append(as, Action{ID: "start." + t.ID, Do: StartTask{Task: t.ID, Settle: t.Epoch < s.Epoch}})
		}
	}
	return as
}
