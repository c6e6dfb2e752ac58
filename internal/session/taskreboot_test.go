package session_test

import (
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// taskLog is a log of which the state and the next actions are looked at after every event.
type taskLog struct {
	t     *testing.T
	state *session.State
	chain session.Chain
}

func newTaskLog(t *testing.T) *taskLog {
	l := &taskLog{t: t, state: session.New("s"), chain: session.Chain{Session: "s"}}
	l.add(&session.Opened{ID: "s"})
	l.add(&session.Resumed{Epoch: 1})
	return l
}

func (l *taskLog) add(body session.Body) {
	l.t.Helper()
	ev, err := l.chain.Event(store.Actor{Type: store.ActorUser}, 1000+l.chain.Head.Seq, body)
	if err != nil {
		l.t.Fatal(err)
	}
	if err := l.state.Apply(ev); err != nil || len(l.state.Faults) > 0 {
		l.t.Fatal(err, l.state.Faults)
	}
}

// next demands these actions and no others.
func (l *taskLog) next(want ...session.Do) {
	l.t.Helper()
	as := session.Next(l.state)
	if len(as) != len(want) {
		l.t.Fatalf("next is %+v, want %+v", as, want)
	}
	for i, a := range as {
		if a.Do != want[i] {
			l.t.Fatalf("next is %+v, want %+v", as, want)
		}
	}
}

func (l *taskLog) request(n, epoch int, cause string) {
	l.t.Helper()
	act := "task.bash_1.a" + string(rune('0'+n))
	l.add(&session.TaskRequested{
		Task: "bash_1", Act: act, Epoch: int64(epoch), Command: "serve", Cwd: "/w", Cause: cause,
		Restart: session.RestartOnReboot, Bound: session.CommandDigest(nil, "serve", "/w"),
	})
}

func (l *taskLog) start(n int) {
	l.t.Helper()
	l.add(&session.TaskStarted{Task: session.Task{ID: "bash_1", Act: "task.bash_1.a" + string(rune('0'+n)), PID: 7}})
}

func (l *taskLog) end(status command.Status, reason string) {
	l.t.Helper()
	l.add(&session.TaskExited{Task: "bash_1", State: command.State{Status: status, Reason: reason}})
}

// Goal: what a reboot took is run again once, if a human granted it: not after any other end, not once refused, not
// twice, and after an interruption only what provably did not begin.
func TestRestartAfterReboot(t *testing.T) {
	again := session.RestartTask{Task: "bash_1"}
	l := newTaskLog(t)
	l.request(1, 1, "")
	l.start(1)
	l.next()
	l.end(command.Lost, command.ReasonReboot)
	l.next(again)
	if !l.state.Task("bash_1").Covered() {
		t.Error("the grant does not cover its own command")
	}

	// The holder dies between the request and the start: the next one looks it up, finds it unbegun, and asks again.
	l.request(2, 1, command.ReasonReboot)
	l.next(session.StartTask{Task: "bash_1"})
	l.add(&session.Resumed{Epoch: 2})
	l.next(session.StartTask{Task: "bash_1", Settle: true})
	l.end(command.Absent, "")
	l.next(again)
	l.request(3, 2, command.ReasonReboot)
	l.start(3)
	l.next()

	// Other ends are no reboots.
	l.end(command.Lost, "shim_died")
	l.next()

	// One that cannot begin is not tried for ever.
	l.request(4, 2, command.ReasonReboot)
	l.end(command.Absent, "no such directory")
	l.next()

	// A refusal stands until the next reboot, and a paused session starts nothing.
	l.request(5, 2, "")
	l.start(5)
	l.end(command.Lost, command.ReasonReboot)
	l.add(&session.LifecycleSet{To: session.LifecyclePaused})
	l.next()
	l.add(&session.LifecycleSet{To: session.LifecycleOpen})
	l.next(again)
	l.add(&session.TaskNotRestarted{Task: "bash_1", Reason: "plan mode"})
	l.next()
	l.add(&session.Resumed{Epoch: 3})
	l.next()
	if got := l.state.Task("bash_1"); got.NotRestarted != "plan mode" || len(got.Attempts) != 4 || got.Attempts[1].Reason != "never_started" {
		t.Errorf("%+v", got)
	}

	// A grant that is withdrawn before it was used is gone, and one for another command covers nothing.
	l.request(6, 3, "")
	l.start(6)
	l.end(command.Lost, command.ReasonReboot)
	l.next(again)
	l.add(&session.TaskRestartSet{Task: "bash_1"})
	l.next()
	l.add(&session.TaskRestartSet{Task: "bash_1", Restart: session.RestartOnReboot, Bound: session.CommandDigest(nil, "serve", "/")})
	l.next()
	if l.state.Task("bash_1").Covered() {
		t.Error("the grant covers another directory")
	}
}

// Goal: a task whose end was asked for does not come back, whether the wish came before the reboot or after it.
func TestKillOutlivesReboot(t *testing.T) {
	for _, late := range []bool{false, true} {
		l := newTaskLog(t)
		l.request(1, 1, "")
		l.start(1)
		kill := &session.TaskSignalled{Task: "bash_1", Signal: "SIGTERM", By: command.ByUser}
		if !late {
			l.add(kill)
		}
		l.end(command.Lost, command.ReasonReboot)
		if late {
			l.next(session.RestartTask{Task: "bash_1"})
			l.add(kill)
		}
		l.next()
	}
}

// Goal: the number of the newest task is remembered however it came to be, so that no id is given twice.
func TestTaskNumbers(t *testing.T) {
	l := newTaskLog(t)
	for _, id := range []string{"bash_1", "bash_2", "bash_7", "bash_3", "other"} {
		l.add(&session.TaskStarted{Task: session.Task{ID: id, Act: id}})
	}
	if l.state.NextTask != 7 {
		t.Errorf("the newest is %d", l.state.NextTask)
	}
}

// Goal: a fork leaves the tasks of its parent to the parent, after a reboot too.
func TestForkRestartsNothing(t *testing.T) {
	l := newTaskLog(t)
	l.request(1, 1, "")
	l.start(1)
	l.end(command.Lost, command.ReasonReboot)
	child := session.Fork(l.state, "c")
	chain := session.Chain{Session: "c", Head: child.Head}
	ev, err := chain.Event(store.Actor{}, 5000, &session.Forked{Parent: *child.Parent, ID: "c"})
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Apply(ev); err != nil || len(child.Faults) > 0 {
		t.Fatal(err, child.Faults)
	}
	if as := session.Next(child); len(as) != 0 {
		t.Errorf("the child would do %+v", as)
	}
	l.next(session.RestartTask{Task: "bash_1"})
}

// Goal: a task that the system ended is due again, but not before the reboot that this may have been the beginning of.
func TestRestartAfterShutdown(t *testing.T) {
	for _, status := range []command.Status{command.Killed, command.Exited} {
		l := newTaskLog(t)
		l.add(&session.Resumed{Epoch: 2, BootID: "one"})
		l.request(1, 2, "")
		l.add(&session.TaskStarted{Task: session.Task{ID: "bash_1", Act: "task.bash_1.a1", PID: 7, BootID: "one"}})
		zero := 0
		st := command.State{Status: status, By: command.BySystem, Signal: "SIGTERM"}
		if status == command.Exited {
			st.ExitCode, st.Signal = &zero, ""
		}
		l.add(&session.TaskExited{Task: "bash_1", State: st})
		l.next()
		l.add(&session.Resumed{Epoch: 3, BootID: "one"})
		l.next()
		l.add(&session.Resumed{Epoch: 4, BootID: "two"})
		l.next(session.RestartTask{Task: "bash_1"})
		l.request(2, 4, command.ReasonReboot)
		l.next(session.StartTask{Task: "bash_1"})
	}
}
