package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// happened counts the events of a kind in a session's log.
func happened(t *testing.T, p process, kind store.Kind) (n int) {
	t.Helper()
	for ev, err := range p.store.Read(t.Context(), "s", 1, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind == kind {
			n++
		}
	}
	return n
}

// An end that is awaited is told by the await alone, and not by a note besides.
func TestAwaitedEndIsToldOnce(t *testing.T) {
	for _, await := range []string{`{"bash_id":"bash_1"}`, `{"bash_id":"bash_1","pattern":"green"}`} {
		synctest.Test(t, func(t *testing.T) {
			s, cmds := waiter(t, await)
			p, se := s.start("go")
			se = restart(t, p, se)
			_, _, over := waiting(t, se)
			<-time.After(time.Minute) // of the bubble
			cmds.end(theTask, 0)
			if err := <-over; err != nil {
				t.Fatal(err)
			}
			if s.told("[await_1] bash_1 ended") != 1 || s.told("[Background task bash_1") != 0 {
				t.Errorf("%s:%s", await, render(s.last().Messages))
			}
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// orphans are shims of which one has died: its command reads as lost until somebody settles, and so adopts it.
type orphans struct {
	*shims
	orphaned bool
}

func (o *orphans) State(id, act string) (command.State, error) {
	st, err := o.shims.State(id, act)
	if o.orphaned && st.Status == command.Running {
		return command.State{Status: command.Lost, Reason: "shim_died"}, nil
	}
	return st, err
}

func (o *orphans) Settle(_ context.Context, id, act string) (command.State, error) {
	o.orphaned = false
	return o.State(id, act)
}

// A task that reads as lost is adopted before the log calls it lost.
func TestTaskIsAdoptedBeforeItIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, cmds := shell(t, use("a", "Bash", `{"command":"sleep","run_in_background":true}`))
		o, config := &orphans{shims: cmds}, s.config
		s.config = func(c *engine.Config) { config(c); c.Commands = o }
		p, se := s.start("go")
		se = restart(t, p, se)
		run(t, se)
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		o.orphaned = true
		se = p.open(bypass)
		if st := run(t, se); st.Tasks[0].Status != command.Running {
			t.Errorf("task %+v", st.Tasks[0])
		}
		_ = cmds.Kill(t.Context(), "s", theTask, "test")
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}

// After a reboot the rules of the day decide again: a grant overrides no refusal, and holds for its own command only.
func TestRestartIsUnderTheRulesOfTheDay(t *testing.T) {
	for rule, want := range map[string]string{"": "", "deny": "permission denied", "another": "the grant is for another command"} {
		synctest.Test(t, func(t *testing.T) {
			s, cmds := shell(t)
			p, se := s.start("go")
			p.send("run", &session.TaskRequested{Command: "serve", Cwd: "/w", Restart: session.RestartOnReboot})
			run(t, se)
			if len(se.State().Tasks) != 1 {
				t.Fatalf("tasks %+v", se.State().Tasks)
			}
			first := se.State().Tasks[0].Act
			if rule == "another" {
				set := &session.TaskRestartSet{Task: "bash_1", Restart: session.RestartOnReboot, Bound: session.CommandDigest(nil, "other", "/w")}
				if err := se.Append(t.Context(), store.Actor{Type: store.ActorUser}, set); err != nil {
					t.Fatal(err)
				}
			}
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
			cmds.mu.Lock()
			cmds.cmds[first].st.Status, cmds.cmds[first].st.Reason = command.Lost, command.ReasonReboot
			close(cmds.cmds[first].ended)
			cmds.mu.Unlock()
			config := s.config
			s.config = func(c *engine.Config) { config(c); c.BootID = "c" }
			p = s.process()
			opt := engine.Options{}
			if rule == "deny" {
				opt = engine.Options{SetRules: true, Rules: []session.Rule{{Effect: rule, Text: "Bash(serve)", Source: "project"}}}
			}
			se = p.open(opt)
			st := run(t, se)
			again := cmds.find("task.bash_1.a2") != nil
			if got := st.Tasks[0].NotRestarted; again != (want == "") || !strings.Contains(got, want) || want == "" && got != "" {
				t.Errorf("rule %q: runs again: %v, not restarted: %q", rule, again, got)
			}
			_ = cmds.Kill(t.Context(), "s", "task.bash_1.a2", "test")
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A task that a human starts is under the deny rules, since the same command might be one that nothing allows.
func TestTaskRunIsUnderTheDenyRules(t *testing.T) {
	s, cmds := shell(t)
	p, se := s.start("go")
	if err := se.Close(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	se = p.open(engine.Options{SetRules: true, Rules: []session.Rule{{Effect: "deny", Text: "Bash(print 16)", Source: "flag"}}})
	p.send("no", &session.TaskRequested{Command: "print 16", Cwd: "/w"})
	p.send("yes", &session.TaskRequested{Command: "print 32", Cwd: "/w"})
	st := run(t, se)
	if len(st.Tasks) != 1 || st.Tasks[0].Command != "print 32" || len(cmds.cmds) != 1 {
		t.Errorf("tasks %+v, %d commands", st.Tasks, len(cmds.cmds))
	}
	if n := happened(t, p, session.KindInboxRefused); n != 1 {
		t.Errorf("%d refused", n)
	}
}

// witness is a set of shims that notes, at a kill, what the log holds by then.
type witness struct {
	*shims
	look func()
}

func (l *witness) Kill(ctx context.Context, id, act, by string) error {
	l.look()
	return l.shims.Kill(ctx, id, act, by)
}

// That a task's lifetime ends it is in the log before it is ended.
func TestLifetimeIsLoggedBeforeTheKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, cmds := shell(t, use("a", "Bash", `{"command":"sleep","run_in_background":true,"lifetime":"turn"}`))
		l, config := &witness{shims: cmds}, s.config
		s.config = func(c *engine.Config) { config(c); c.Commands = l }
		p, se := s.start("go")
		intended, over, looked := 0, 0, false
		l.look = func() {
			intended, over, looked = happened(t, p, session.KindTaskSignalled), happened(t, p, session.KindTaskExited), true
		}
		se = restart(t, p, se)
		st := run(t, se)
		if !looked || intended != 1 || over != 0 {
			t.Errorf("killed: %v; the log had %d intents and %d ends", looked, intended, over)
		}
		if got := st.Tasks[0]; got.Kill != command.ByLifetime || got.By != command.ByLifetime {
			t.Errorf("task %+v", got)
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}

// The name of a task that has left the list of those that ended is not given again.
func TestNamesOfDroppedTasksAreNotGivenAgain(t *testing.T) {
	const kept = 256 // of the tasks that ended
	s, _ := shell(t)
	p, se := s.start("go")
	name := func(i int) string { return fmt.Sprintf("bash_%d", i) }
	var started, exited []session.Body
	for i := range kept + 1 {
		started = append(started, &session.TaskStarted{Task: session.Task{ID: name(i + 1), Act: fmt.Sprintf("x%d", i+1), Command: "sleep"}})
		exited = append(exited, &session.TaskExited{Task: name(i + 1), State: command.State{Status: command.Killed}})
	}
	slices.Reverse(exited) // the newest ends first, and leaves the list first
	for _, bodies := range [][]session.Body{started, exited} {
		if err := se.Append(t.Context(), store.Actor{Type: store.ActorEngine}, bodies...); err != nil {
			t.Fatal(err)
		}
	}
	if se.State().Task(name(kept+1)) != nil || se.State().Task(name(kept)) == nil {
		t.Fatalf("%d tasks", len(se.State().Tasks))
	}
	p.send("run", &session.TaskRequested{Command: "print 16", Cwd: "/w"})
	if st := run(t, se); st.Task(name(kept+1)) != nil || st.Task(name(kept+2)) == nil {
		t.Errorf("the newest task is %+v", st.Tasks[len(st.Tasks)-1])
	}
}
