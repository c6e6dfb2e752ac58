package engine

import (
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
)

// admitting is a session of which only what it admits is looked at.
func admitting(st session.State) *Session {
	st.Lifecycle = session.LifecycleOpen
	return &Session{eng: &Engine{cfg: Config{Secrets: noSecrets{}}}, state: &st}
}

// Goal: a person who awaits a line of a task is told of what the model has not read yet; a task's end is awaited from
// nowhere, and a place that is given is kept.
func TestLineIsAwaitedFromWhereTheModelHasRead(t *testing.T) {
	for _, c := range []struct {
		await session.Await
		from  int64
	}{
		{session.Await{Event: session.AwaitLine, Task: "bash_1", Pattern: "ready"}, 7},
		{session.Await{Event: session.AwaitLine, Task: "bash_1", Pattern: "ready", From: 3}, 3},
		{session.Await{Event: session.AwaitEnd, Task: "bash_1"}, 0},
	} {
		s := admitting(session.State{Tasks: []session.Task{{ID: "bash_1", Act: "act", Ending: command.Ending{Status: command.Running}, Position: 7}}})
		b := &session.AwaitSet{Await: c.await}
		if err := s.admissible(b, "key"); err != nil || b.Await.From != c.from || b.Await.TaskAct != "act" {
			t.Errorf("%+v becomes %+v, %v", c.await, b.Await, err)
		}
	}
}

// Goal: a session takes facts until it holds as many as it can.
func TestFactsAreTakenWhileTheyFit(t *testing.T) {
	for held, want := range map[int]bool{0: true, 4095: true, 4096: false} {
		s := admitting(session.State{Facts: make([]session.Fact, held)})
		if err := s.admissible(&session.FactAdded{Fact: session.Fact{Text: "one more"}}, ""); (err == nil) != want {
			t.Errorf("beside %d: %v", held, err)
		}
	}
}
