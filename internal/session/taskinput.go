package session

import (
	"fmt"
	"slices"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/store"
)

// MaxInput bounds the text of one write to a task, in bytes: as much as waits for a command that does not read.
const MaxInput = 64 << 10

// MaxInputs bounds the writes to one task that have no outcome yet; a holder refuses one more.
const MaxInputs = 64

// Input is a write to a task that has no outcome yet.
type Input struct {
	Seq   int64  `json:"seq"`           // of its task.input, which holds the text
	Act   string `json:"act"`           // the attempt that it is meant for
	Epoch int64  `json:"epoch"`         // of the holder that took it
	Key   string `json:"key,omitempty"` // idempotency key of the request
}

// TaskInput is the intent to write to a task's input: durable before the first byte. What an earlier holder was to
// write is not written again, since nobody knows how much of it the command has got.
type TaskInput struct {
	Task  string `json:"task"`
	Epoch int64  `json:"epoch"`         // set by the holder
	Key   string `json:"key,omitempty"` // idempotency key of the request
	EOF   bool   `json:"eof,omitempty"` // the input ends after the text
	Text  []byte `json:"-"`             // a raw part
}

func (b *TaskInput) summary() string {
	end := ""
	if b.EOF {
		end = ", and its end"
	}
	return fmt.Sprintf("%s: %d bytes%s", b.Task, len(b.Text), end)
}

func (b *TaskInput) show(m map[string]any) { viewText(m, "text", b.Text) }

func (b *TaskInput) parts() []*[]byte { return []*[]byte{&b.Text} }

func (b *TaskInput) apply(s *State, e store.Event) {
	t := s.Task(b.Task)
	switch {
	case t == nil:
		s.fault(e, "no task %s", b.Task)
	case t.Session != "":
		s.fault(e, "task %s is of session %s: only that one may write to it", b.Task, t.Session)
	case len(t.Inputs) >= MaxInputs:
		s.fault(e, "more than %d writes wait for task %s", MaxInputs, b.Task)
	default:
		// A copy: what was handed out of the list before must not change.
		t.Inputs = append(slices.Clip(t.Inputs), Input{Seq: e.Seq, Act: t.Act, Epoch: b.Epoch, Key: b.Key})
	}
}

// InputOutcome says what became of a write to a task.
type InputOutcome string

// The outcomes of a write.
const (
	InputTaken   InputOutcome = "taken"   // all of it
	InputEnded   InputOutcome = "ended"   // the command has ended
	InputClosed  InputOutcome = "closed"  // the command was started without an input, or its input was ended before
	InputFull    InputOutcome = "full"    // the command does not read; some of it may have been taken
	InputUnknown InputOutcome = "unknown" // the holder died while it wrote
)

// TaskWritten is the outcome of a write.
type TaskWritten struct {
	headOnly
	Task    string       `json:"task"`
	Input   int64        `json:"input"` // seq of the task.input
	Key     string       `json:"key,omitempty"`
	Outcome InputOutcome `json:"outcome"`
	Bytes   int64        `json:"bytes"`            // taken; 0 if unknown
	Reason  string       `json:"reason,omitempty"` // in words
}

func (b *TaskWritten) summary() string {
	return fmt.Sprintf("%s: %s, %d bytes", b.Task, b.Outcome, b.Bytes)
}

func (b *TaskWritten) apply(s *State, _ store.Event) {
	if t := s.Task(b.Task); t != nil { // one that ended long ago may be forgotten
		t.Inputs = slices.DeleteFunc(slices.Clone(t.Inputs), func(in Input) bool { return in.Seq == b.Input })
	}
}

// WriteTask asks to write to a task what the event at Seq holds; the outcome is task.written. Settle: the write was an
// earlier holder's, or is meant for an earlier attempt, so nothing is written.
type WriteTask struct {
	Task   string
	Input  Input
	Settle bool
}

func (WriteTask) do() {}

// inputs adds the next write of every task: they are done in their order.
func (s *State) inputs(as []Action) []Action {
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if len(t.Inputs) == 0 || t.Session != "" || t.Status == command.Starting {
			continue
		}
		in := t.Inputs[0]
		as = append(as, Action{ID: "input." + t.ID, Do: WriteTask{Task: t.ID, Input: in, Settle: in.Epoch < s.Epoch || in.Act != t.Act}})
	}
	return as
}
