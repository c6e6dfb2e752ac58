package engine

import (
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
)

// What is told of the end of an earlier run of a task is all that is known of it: who ended it, too.
func TestTheEndOfAnEarlierRunIsTheWholeOfIt(t *testing.T) {
	st := session.New("s")
	st.Tasks = []session.Task{{ID: "bash_1", Act: "second", Ending: command.Ending{Status: command.Running}, Attempts: []session.TaskAttempt{
		{Act: "first", Ending: command.Ending{Status: command.Killed, Signal: "SIGKILL", By: command.ByUser, Reason: "asked", Output: 7}},
	}}}
	s := &Session{state: st}
	got, ended := s.awaitedEnd(session.Await{Task: "bash_1", TaskAct: "first"})
	want := command.State{Status: command.Killed, Signal: "SIGKILL", By: command.ByUser, Reason: "asked", Output: 7}
	if !ended || got.Status != want.Status || got.Signal != want.Signal || got.By != want.By || got.Reason != want.Reason || got.Output != want.Output {
		t.Errorf("%t, %+v, want %+v", ended, got, want)
	}
}
