package session_test

import (
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
)

func started(w *world, id string, set session.TaskSettings) {
	w.append(human, &session.TaskRequested{Task: id, Act: "task." + id + ".a1", Epoch: w.st.Epoch, Command: "x", TaskSettings: set})
	w.append(engine, &session.TaskStarted{Task: session.Task{ID: id, Act: "task." + id + ".a1", PID: 7}})
}

func next(w *world) string { return actionLines(session.Next(w.st)) }

// Goal: a task ends when what its lifetime is bound to is over, not before; that it is to end comes into the log first.
func TestLifetimes(t *testing.T) {
	w := called("Bash")
	started(w, "bash_1", session.TaskSettings{Lifetime: session.LifetimeTurn})
	started(w, "bash_2", session.TaskSettings{Lifetime: session.LifetimeSession})
	started(w, "bash_3", session.TaskSettings{Lifetime: session.LifetimeDetached})
	started(w, "bash_4", session.TaskSettings{})
	w.resume()
	if got := next(w); strings.Contains(got, "kill.") {
		t.Errorf("in the open turn Next is\n%s", got)
	}
	w.append(human, &session.CancelRequested{})
	w.append(engine, &session.TurnEnded{N: 1, Stop: session.TurnCancelled})
	want := session.KillTask{Task: "bash_1", By: command.ByLifetime, Intend: true}
	if as := session.Next(w.st); len(as) != 1 || as[0].Do != want {
		t.Errorf("after the turn Next is\n%s", next(w))
	}
	w.append(engine, &session.TaskSignalled{Task: "bash_1", By: command.ByLifetime})
	w.append(human, &session.TaskSignalled{Task: "bash_1", By: command.ByUser}) // the first wish is what ends it
	want.Intend = false
	if as := session.Next(w.st); len(as) != 1 || as[0].Do != want {
		t.Errorf("after the intent Next is\n%s", next(w))
	}
	w.append(engine, &session.TaskExited{Task: "bash_1", State: command.State{Status: command.Killed}})
	if got := next(w); strings.Contains(got, "kill.") {
		t.Errorf("after its end Next is\n%s", got)
	}
	w.append(human, &session.LifecycleSet{To: session.LifecyclePaused})
	if got := next(w); strings.Contains(got, "kill.") {
		t.Errorf("paused: Next is\n%s", got)
	}
	w.append(human, &session.LifecycleSet{To: session.LifecycleClosed})
	if got := next(w); strings.Count(got, "kill.") != 1 || !strings.Contains(got, "kill.bash_2") {
		t.Errorf("closed: Next is\n%s", got)
	}
	if c := w.fork("child", int64(len(w.events))); strings.Contains(next(c), "kill.") {
		t.Errorf("a fork ends its parent's tasks:\n%s", next(c))
	}
}

// Goal: a write to a task is asked for once, in order, by the holder that took it; a later one only says that nobody
// knows, and so does one whose task runs again since.
func TestTaskInputs(t *testing.T) {
	w := called()
	started(w, "bash_1", session.TaskSettings{Stdin: true})
	write := func() session.WriteTask {
		t.Helper()
		for _, a := range session.Next(w.st) {
			if do, ok := a.Do.(session.WriteTask); ok && a.ID == "input.bash_1" {
				return do
			}
		}
		return session.WriteTask{}
	}
	w.append(human, &session.TaskInput{Task: "bash_1", Epoch: w.st.Epoch, Key: "a", Text: []byte("one\n")})
	first := w.st.Head.Seq
	w.append(human, &session.TaskInput{Task: "bash_1", Epoch: w.st.Epoch, Key: "b", EOF: true})
	second := w.st.Head.Seq
	if do := write(); do.Input.Seq != first || do.Settle {
		t.Errorf("%+v", do)
	}
	before := w.st.View()
	w.append(engine, &session.TaskWritten{Task: "bash_1", Input: first, Outcome: session.InputTaken, Bytes: 4})
	if do := write(); do.Input.Seq != second || do.Settle || len(before.Task("bash_1").Inputs) != 2 {
		t.Errorf("%+v, a view of before has %d", do, len(before.Task("bash_1").Inputs))
	}
	w.resume()
	if do := write(); do.Input.Seq != second || !do.Settle {
		t.Errorf("of an earlier holder: %+v", do)
	}
	w.append(engine, &session.TaskWritten{Task: "bash_1", Input: second, Outcome: session.InputUnknown})
	w.append(human, &session.TaskInput{Task: "bash_1", Epoch: w.st.Epoch})
	w.append(engine, &session.TaskExited{Task: "bash_1", State: command.State{Status: command.Killed}})
	if do := write(); do.Settle {
		t.Errorf("ended: whoever writes finds that out: %+v", do)
	}
	started2 := &session.TaskRequested{Task: "bash_1", Act: "task.bash_1.a2", Epoch: w.st.Epoch, Command: "x"}
	w.append(human, started2)
	if do := write(); do != (session.WriteTask{}) {
		t.Errorf("while it starts: %+v", do)
	}
	w.append(engine, &session.TaskStarted{Task: session.Task{ID: "bash_1", Act: "task.bash_1.a2", PID: 8}})
	if do := write(); !do.Settle {
		t.Errorf("of the earlier attempt: %+v", do)
	}
	if len(w.st.Faults) > 0 {
		t.Error(w.st.Faults)
	}
	for range session.MaxInputs {
		w.append(human, &session.TaskInput{Task: "bash_1", Epoch: w.st.Epoch})
	}
	if n := len(w.st.Task("bash_1").Inputs); n != session.MaxInputs || len(w.st.Faults) != 1 {
		t.Errorf("%d writes wait, faults %v", n, w.st.Faults)
	}
}

// Goal: a foreground command is sent to the background once; what is no such command is a fault.
func TestToolDetached(t *testing.T) {
	w := called("Bash", "Bash")
	act := "t1.s1.b2.a1"
	w.append(engine, &session.ToolStarted{Act: act, Start: session.Start{Epoch: w.st.Epoch, Command: "sleep"}})
	before := w.st.Call(act).Start
	w.append(human, &session.ToolDetached{Act: act, Task: "bash_1"})
	c := w.st.Call(act)
	if !c.Start.Moved || !c.Start.Background || c.Start.Task != "bash_1" || c.Detachable() || before.Moved || w.st.NextTask != 1 {
		t.Errorf("start %+v, before %+v, next %d", c.Start, before, w.st.NextTask)
	}
	if len(w.st.Faults) > 0 {
		t.Fatal(w.st.Faults)
	}
	for _, act := range []string{act, "t1.s1.b3.a1", "t9.s1.b1.a1"} {
		n := len(w.st.Faults)
		w.append(human, &session.ToolDetached{Act: act, Task: "bash_2"})
		if len(w.st.Faults) != n+1 {
			t.Errorf("%s: no fault", act)
		}
	}
}
