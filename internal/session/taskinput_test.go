package session

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/store"
)

// Goal: a write to a task that is not there, or is another session's, is a fault that names it, and waits for nothing.
func TestAWriteToNoTaskOfOnesOwnIsAFault(t *testing.T) {
	for task, want := range map[string]string{"bash_7": "no task bash_7", "bash_1": "task bash_1 is of session parent"} {
		s := &State{ID: "s", Tasks: []Task{{ID: "bash_1", Session: "parent", Ending: command.Ending{Status: command.Running}}}}
		(&TaskInput{Task: task, Text: []byte("x")}).apply(s, store.Event{Seq: 3})
		if len(s.Faults) != 1 || !strings.Contains(s.Faults[0], want) || len(s.Tasks[0].Inputs) > 0 {
			t.Errorf("%s: faults %+v, %+v", task, s.Faults, s.Tasks[0].Inputs)
		}
	}
}

// Goal: a write is shown with its task, its length and its text, and with its end only if it is one. What people are
// told of the bounds is what holds: 65,536 bytes at once, 64 writes that wait.
func TestAWriteIsShownAsItIs(t *testing.T) {
	for want, b := range map[string]TaskInput{
		"bash_1: 3 bytes":              {Task: "bash_1", Text: []byte("yes")},
		"bash_1: 3 bytes, and its end": {Task: "bash_1", Text: []byte("yes"), EOF: true},
	} {
		m := map[string]any{}
		if b.show(m); b.summary() != want || m["text"] != "yes" {
			t.Errorf("%q with %v, want %q", b.summary(), m, want)
		}
	}
	if MaxInput != 65_536 || MaxInputs != 64 {
		t.Errorf("%d bytes, %d writes", MaxInput, MaxInputs)
	}
}
