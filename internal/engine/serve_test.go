package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

var person = store.Actor{Type: store.ActorUser}

// serving runs a session that stays, and counts where it rests.
func serving(t *testing.T, se *engine.Session) (rested *int, end func() error) {
	ctx, stop := context.WithCancel(t.Context())
	over, n := make(chan error, 1), 0
	go func() { over <- se.Serve(ctx, func(*session.State) { n++ }) }()
	return &n, func() error { stop(); return <-over }
}

// asking is a stage whose model asks its person something.
func asking(t *testing.T) *stage {
	return newStage(t, reply(modelapi.StopToolUse, use("a", "AskUser", `{"question":"?"}`)), reply(modelapi.StopEndTurn, text("done")))
}

// A session that is held still takes in what comes and starts nothing of it, until it is let go on; it says once where it
// rests.
func TestStillStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, reply(modelapi.StopEndTurn, text("one")))
		p, se := s.start("go")
		se.Still(true)
		rested, end := serving(t, se)
		<-time.After(time.Minute) // of the bubble
		if st := se.State(); *rested != 1 || len(s.requests) > 0 || len(st.Queue) != 1 || st.Turns != 0 {
			t.Errorf("held still: rested %d times, %d requests, %d turns", *rested, len(s.requests), st.Turns)
		}
		must(t, se.Do(t.Context(), func() error { se.Still(false); return nil }))
		<-time.After(time.Minute)
		if st := se.State(); *rested != 2 || len(s.requests) != 1 || st.LastTurn == nil {
			t.Errorf("let go on: rested %d times, %d requests, turn %+v", *rested, len(s.requests), st.LastTurn)
		}
		odd := errors.New("odd")
		if err := se.Do(t.Context(), func() error { return odd }); !errors.Is(err, odd) {
			t.Errorf("the work's error became %v", err)
		}
		if err := end(); !errors.Is(err, engine.ErrParked) {
			t.Errorf("served: %v", err)
		}
		p.say("more")
		must(t, se.Close(t.Context(), ""))
	})
}

// An interrupt ends the turn that waits for an answer where the session is served; of one that only sleeps it ends the
// sleep, and of one that has nothing open nothing.
func TestWhatAnInterruptEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := asking(t)
		p, se := s.start("go")
		_, stop, over := waiting(t, se)
		defer stop()
		<-time.After(time.Minute) // of the bubble
		must(t, se.Interrupt(t.Context(), person), <-over)
		if st := se.State(); st.Turn == nil || st.Turn.Cancel != nil {
			t.Errorf("asleep: turn %+v", st.Turn)
		}
		_, end := serving(t, se)
		<-time.After(time.Minute)
		must(t, se.Interrupt(t.Context(), person))
		<-time.After(time.Minute)
		if st := se.State(); st.LastTurn == nil || st.LastTurn.Stop != session.TurnCancelled {
			t.Errorf("served: turn %+v", st.Turn)
		}
		head := se.Head()
		must(t, se.Interrupt(t.Context(), person))
		if se.Head() != head {
			t.Errorf("of nothing: events %d to %d", head.Seq, se.Head().Seq)
		}
		_ = end()
		p.say("again")
		must(t, se.Run(t.Context()))
		if err := se.Cancel(t.Context(), person); err == nil || se.State().LastTurn == nil {
			must(t, err)
		}
		must(t, se.Close(t.Context(), ""))
	})
}

// An interrupt of a run that works cancels its turn, whether it waits besides or not.
func TestAnInterruptOfAWorkingRun(t *testing.T) {
	for _, waits := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t)
			began := make(chan struct{}, 1)
			s.answer = func(ctx context.Context, _ int, _ modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
				began <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			}
			_, se := s.start("go")
			over := make(chan error, 1)
			go func() {
				if waits {
					over <- se.RunWaiting(t.Context(), nil)
				} else {
					over <- se.Run(t.Context())
				}
			}()
			<-began
			must(t, se.Interrupt(t.Context(), person), <-over)
			if st := se.State(); st.LastTurn == nil || st.LastTurn.Stop != session.TurnCancelled {
				t.Errorf("waits %v: turn %+v, last %+v", waits, st.Turn, st.LastTurn)
			}
			must(t, se.Close(t.Context(), ""))
		})
	}
}

// The turn of a holder that does not run is cancelled by the next run.
func TestCancelOfAWaitingTurn(t *testing.T) {
	_, se := asking(t).start("go")
	run(t, se)
	must(t, se.Cancel(t.Context(), person))
	if st := run(t, se); st.LastTurn == nil || st.LastTurn.Stop != session.TurnCancelled {
		t.Errorf("turn %+v", st.Turn)
	}
}

// Whoever puts something into the inbox of a session that this process holds wakes it, and learns when it was taken; of
// one that nobody holds here there is nothing to wait for.
func TestASleeperIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, reply(modelapi.StopEndTurn, text("one")), reply(modelapi.StopEndTurn, text("two")))
		s.config = func(c *engine.Config) { c.Poll = 24 * time.Hour; c.Store = noNews{c.Store} }
		p, se := s.start("go")
		_, end := serving(t, se)
		<-time.After(time.Minute) // of the bubble
		if p.Taken("other") != nil {
			t.Error("something is taken by a session that nobody holds")
		}
		p.Wake("other")
		taken := p.Taken("s")
		p.say("more")
		began := time.Now()
		p.Wake("s")
		p.Wake("s")
		<-taken
		synctest.Wait()
		if d := time.Since(began); d > time.Second || len(s.requests) != 2 {
			t.Errorf("taken after %v, %d requests", d, len(s.requests))
		}
		again := p.Taken("s")
		_ = end()
		must(t, se.Close(t.Context(), ""))
		<-again
		if p.Taken("s") != nil {
			t.Error("a session that was given back takes something")
		}
		p.say("late")
		if err := se.Drain(t.Context()); !errors.Is(err, engine.ErrReleased) {
			t.Errorf("drained after it was given back: %v", err)
		}
	})
}

// noNews is a store that cannot tell of what others do.
type noNews struct{ store.Store }

// A holder whose run was parked in the middle of a turn takes the wish to restore its files as if nobody ran it: nothing is
// in flight.
func TestARestoreBetweenTwoRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		s.kept()
		began := make(chan struct{}, 1)
		s.answer = func(ctx context.Context, n int, _ modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
			if n == 0 {
				return reply(modelapi.StopToolUse, use("1", "Write", `{"file_path":"/w/n","content":"new"}`)), nil
			}
			began <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		p, se := s.start("go")
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- se.Run(ctx) }()
		<-began
		p.undo("early", se.State())
		<-time.After(time.Second) // of the bubble
		stop()
		<-over
		if refused := p.log(session.KindInboxRefused); len(refused) != 1 {
			t.Errorf("while it ran: refused %+v", refused)
		}
		p.undo("u", se.State())
		must(t, se.Drain(t.Context()))
		if refused, taken := p.log(session.KindInboxRefused), p.log(session.KindRestoreRequested); len(refused) != 1 || len(taken) != 1 {
			t.Errorf("parked: refused %+v, taken %+v", refused, taken)
		}
		must(t, se.Close(t.Context(), ""))
	})
}

// rebooted is a stage with one task, after a reboot took it.
func rebooted(t *testing.T, grant string) (*stage, *shims, process) {
	s, cmds := shell(t)
	p, se := s.start("go")
	p.send("run", &session.TaskRequested{Command: "serve", Cwd: "/w", Restart: grant})
	run(t, se)
	first := se.State().Tasks[0].Act
	must(t, se.Close(t.Context(), ""))
	cmds.mu.Lock()
	cmds.cmds[first].st.Status, cmds.cmds[first].st.Reason = command.Lost, command.ReasonReboot
	close(cmds.cmds[first].ended)
	cmds.mu.Unlock()
	config := s.config
	s.config = func(c *engine.Config) { config(c); c.BootID = "c" }
	return s, cmds, s.process()
}

// reported is what a holder reports of what it found.
func reported(se *engine.Session) string {
	var out strings.Builder
	for _, r := range se.Recovered() {
		out.WriteString(r.Kind + " " + r.ID + ": " + r.Text + "\n")
	}
	return out.String()
}

// After a reboot whoever brings the tasks back runs those again that a person granted it to, and nothing else; what was
// asked for meanwhile is heard first. It is reported, also by the next holder that runs a turn.
func TestTasksAreBroughtBack(t *testing.T) {
	for name, c := range map[string]struct {
		grant, end string
		again      bool
		says       string
	}{
		"granted":          {session.RestartOnReboot, "", true, "runs again after the reboot, attempt 2: serve"},
		"nobody did":       {"", "", false, "is lost (reboot)"},
		"ended by request": {session.RestartOnReboot, "end it", false, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, cmds, p := rebooted(t, c.grant)
			p.say("and then?")
			if c.end != "" {
				p.send("kill", &session.TaskSignalled{Task: "bash_1"})
			}
			se := p.open(engine.Options{})
			turns := se.State().Turns
			must(t, se.RestoreTasks(t.Context()))
			if again := cmds.find("task.bash_1.a2") != nil; again != c.again || se.State().Turns != turns {
				t.Errorf("%s: runs again: %v, %d turns, %+v", name, again, se.State().Turns-turns, se.State().Tasks[0])
			}
			if got := reported(se); !strings.Contains(got, c.says) {
				t.Errorf("%s: reported\n%s", name, got)
			}
			_ = cmds.Kill(t.Context(), "s", "task.bash_1.a2", "test")
			must(t, se.Close(t.Context(), ""))
		})
	}
}

// What an earlier holder left of a turn is settled without going on: a command that has ended is collected, one that runs,
// or of which nothing can be told, is left alone.
func TestWhatIsLeftOfACommandIsSettled(t *testing.T) {
	for name, c := range map[string]struct {
		change func(c *shim)
		open   bool
	}{
		"it runs":   {func(*shim) {}, true},
		"it ended":  {func(c *shim) { code := 0; c.st.Status, c.st.ExitCode = command.Exited, &code; close(c.ended) }, false},
		"no answer": {nil, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, cmds := leftSleeping(t)
			if c.change != nil {
				c.change(cmds.find(firstAct))
			} else {
				config := s.config
				s.config = func(cfg *engine.Config) { config(cfg); cfg.Commands = mute{cmds} }
			}
			se := s.process().open(bypass)
			must(t, se.SettleLeft(t.Context()))
			if open := !se.State().Call(firstAct).Settled(); open != c.open || len(s.requests) != 1 {
				t.Errorf("%s: open %v, %d requests", name, open, len(s.requests))
			}
			_ = cmds.Kill(t.Context(), "s", firstAct, "test")
			must(t, se.Close(t.Context(), ""))
		})
	}
}

// leftSleeping is a stage on which an agent has died while its command ran.
func leftSleeping(t *testing.T) (*stage, *shims) {
	s, cmds := shell(t, use("a", "Bash", `{"command":"sleep"}`))
	p, se := s.start("go")
	se = restart(t, p, se)
	stop, over := background(t, se)
	<-time.After(time.Second) // of the bubble
	die(p, stop, over)
	return s, cmds
}

// mute are shims that cannot be asked.
type mute struct{ *shims }

func (mute) State(string, string) (command.State, error) {
	return command.State{}, errors.New("input/output error")
}

// A command that outlives its agent is settled by the next one: it is waited for and ran once, is ended if its turn was
// cancelled meanwhile, runs again if it provably never began, and is unknown if nobody can tell.
func TestACommandOutlivesItsAgent(t *testing.T) {
	for name, c := range map[string]struct {
		cancel  bool
		meets   func(cmds *shims, c *shim) // what the next agent finds
		then    func(c *shim)              // what happens while it looks on
		outcome session.Outcome
		tries   int
		says    string
	}{
		"it goes on":         {false, nil, func(c *shim) { finish(c, 3) }, session.OutcomeError, 1, "exit code 3"},
		"it ended":           {false, func(_ *shims, c *shim) { finish(c, 0) }, nil, session.OutcomeOK, 1, ""},
		"cancelled":          {true, nil, nil, session.OutcomeCancelled, 1, ""},
		"never began":        {false, func(_ *shims, c *shim) { c.st = command.State{Status: command.Absent}; close(c.ended) }, nil, session.OutcomeOK, 2, ""},
		"never, cancelled":   {true, func(_ *shims, c *shim) { c.st = command.State{Status: command.Absent}; close(c.ended) }, nil, session.OutcomeCancelled, 1, ""},
		"its record is gone": {false, func(s *shims, _ *shim) { delete(s.cmds, firstAct) }, nil, session.OutcomeUnknown, 1, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, cmds := leftSleeping(t)
			if c.meets != nil {
				cmds.mu.Lock()
				c.meets(cmds, cmds.cmds[firstAct])
				cmds.mu.Unlock()
			}
			p := s.process()
			if c.cancel {
				p.send("cancel", &session.CancelRequested{})
			}
			se := p.open(bypass)
			stop, over := background(t, se)
			defer stop()
			<-time.After(time.Second)
			if c.then != nil {
				c.then(cmds.find(firstAct))
			}
			if second := cmds.find("t1.s1.b1.a2"); second != nil {
				finish(second, 0)
			}
			if err := <-over; err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			st := se.State()
			last := st.Settled[len(st.Settled)-1]
			if last.Outcome != c.outcome || !strings.HasSuffix(last.ID, map[int]string{1: ".a1", 2: ".a2"}[c.tries]) || len(st.Faults) > 0 {
				t.Errorf("%s: %+v, faults %q", name, last, st.Faults)
			}
			if got := render(s.last().Messages); !c.cancel && !strings.Contains(got, c.says) {
				t.Errorf("%s: the model was told\n%s", name, got)
			}
			must(t, se.Close(t.Context(), ""))
		})
	}
}

func finish(c *shim, code int) {
	c.st.Status, c.st.ExitCode = command.Exited, &code
	close(c.ended)
}

// Whoever asks whether another attempt of a task would be taken learns what it would run, where and with which
// environment, and that a rule refuses it.
func TestWhetherATaskWouldBeTaken(t *testing.T) {
	s, _ := shell(t)
	p, se := s.start("go")
	st := se.State()
	st.Tasks = []session.Task{{ID: "bash_1", Act: "a", Command: "serve", Cwd: "/w", Ending: command.Ending{Status: command.Running}}}
	b := &session.TaskRequested{Task: "bash_1"}
	env, err := p.MayRunTask(st, nil, b)
	if err != nil || len(env) == 0 || b.Command != "serve" || b.Cwd != "/w" {
		t.Errorf("%v, %v, %+v", env, err, b)
	}
	deny := []session.Rule{{Effect: "deny", Text: "Bash(serve)", Source: permission.SourceUser}}
	if _, err := p.MayRunTask(st, deny, &session.TaskRequested{Task: "bash_1"}); err == nil || len(st.Permissions.Rules) > 0 {
		t.Errorf("refused by a rule: %v, the session has %v", err, st.Permissions.Rules)
	}
	for want, b := range map[string]session.TaskRequested{
		"no task": {Task: "bash_9"}, "no command": {Cwd: "/w"}, "not absolute": {Command: "x", Cwd: "w"}, "UTF-8": {Command: "\xff", Cwd: "/w"}, "at noon": {Command: "x", Cwd: "/w", Restart: "at noon"},
	} {
		if _, err := p.MayRunTask(st, nil, &b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
