package session_test

import (
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Goal: a requested task is started once by the holder that took the request, looked up by a later one, and keeps its
// id and its earlier attempts when it is requested again.
func TestTaskRequested(t *testing.T) {
	s := session.New("s")
	chain := session.Chain{Session: "s"}
	add := func(body session.Body) {
		t.Helper()
		ev, err := chain.Event(store.Actor{Type: store.ActorUser}, 1000+chain.Head.Seq, body)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(ev); err != nil || len(s.Faults) > 0 {
			t.Fatal(err, s.Faults)
		}
	}
	want := func(do session.Do) {
		t.Helper()
		as := session.Next(s)
		if do == nil && len(as) == 0 || len(as) == 1 && as[0].Do == do {
			return
		}
		t.Fatalf("next is %+v, want %+v", as, do)
	}
	add(&session.Opened{ID: "s"})
	add(&session.Resumed{Epoch: 1})
	add(&session.TaskRequested{Task: "bash_1", Act: "task.bash_1.a1", Epoch: 1, Command: "serve", Key: "k"})
	want(session.StartTask{Task: "bash_1"})
	add(&session.Resumed{Epoch: 2})
	want(session.StartTask{Task: "bash_1", Settle: true})
	add(&session.TaskStarted{Task: session.Task{ID: "bash_1", Act: "task.bash_1.a1", PID: 7}})
	want(nil)
	code := 3
	add(&session.TaskExited{Task: "bash_1", State: command.State{Status: command.Exited, ExitCode: &code, Output: 5}})
	add(&session.TaskRequested{Task: "bash_1", Act: "task.bash_1.a2", Epoch: 2, Command: "serve"})
	want(session.StartTask{Task: "bash_1"})
	add(&session.TaskExited{Task: "bash_1", State: command.State{Status: command.Absent}})
	want(nil)
	got := s.Task("bash_1")
	if got.Attempt != 2 || len(got.Attempts) != 1 || *got.Attempts[0].ExitCode != 3 || got.Status != command.Lost || s.NextTask != 1 {
		t.Errorf("task %+v, next %d", got, s.NextTask)
	}
}
