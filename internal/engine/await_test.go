package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// printer is a set of shims whose commands print when a test says so.
type printer struct{ *shims }

func (p printer) print(act, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmds[act].out = append(p.cmds[act].out, text...)
	p.cmds[act].st.Output = int64(len(p.cmds[act].out))
}

// end ends a command with an exit code.
func (p printer) end(act string, code int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.cmds[act]
	c.st.Status, c.st.ExitCode = command.Exited, &code
	close(c.ended)
}

func (p printer) Read(_, act string, from int64, limit int) ([]byte, int64, int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.cmds[act]
	if c == nil || from >= int64(len(c.out)) {
		return nil, from, 0, nil
	}
	end := min(int64(len(c.out)), from+int64(limit))
	return append([]byte(nil), c.out[from:end]...), end, 0, nil
}

// theTask is the act of the background command that every waiter starts.
const theTask = "t1.s1.b1.a1"

// waiter is a stage whose model starts a task, awaits something, and then says that it was told.
func waiter(t *testing.T, await string) (*stage, printer) {
	s, cmds := shell(t)
	s.answer = func(_ context.Context, n int, r modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
		switch n {
		case 0:
			return reply(modelapi.StopToolUse, use("a", "Bash", `{"command":"sleep","run_in_background":true}`)), nil
		case 1:
			return reply(modelapi.StopToolUse, use("b", "Await", await)), nil
		}
		return reply(modelapi.StopEndTurn, text(fmt.Sprintf("reply %d", n))), nil
	}
	p := printer{cmds}
	config := s.config
	s.config = func(c *engine.Config) { config(c); c.Commands = p }
	return s, p
}

// told counts how often the newest request tells of an await.
func (s *stage) told(words string) int {
	n := 0
	for _, m := range s.last().Messages {
		for _, b := range m.Blocks {
			if b.Result == nil {
				n += strings.Count(b.Text, words)
			}
		}
	}
	return n
}

// waiting runs a session beside the test until it is awaited no more.
func waiting(t *testing.T, s *engine.Session) (slept *int, stop context.CancelFunc, over <-chan error) {
	ctx, cancel := context.WithCancel(t.Context())
	done, n := make(chan error, 1), 0
	go func() { done <- s.RunWaiting(ctx, func(*session.State) { n++ }) }()
	return &n, cancel, done
}

// A line that is printed while the session sleeps starts a turn that tells of it, and no request is made before.
func TestAwaitedLineWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, cmds := waiter(t, `{"bash_id":"bash_1","pattern":"^green$","note":"ship it"}`)
		p, se := s.start("go")
		se = restart(t, p, se)
		slept, _, over := waiting(t, se)
		<-time.After(time.Hour) // of the bubble
		if *slept != 1 || len(s.requests) != 3 {
			t.Fatalf("slept %d times, %d requests", *slept, len(s.requests))
		}
		cmds.print(theTask, "red\n\x1b[32mgreen\x1b[0m") // no whole line yet
		<-time.After(time.Minute)
		if len(s.requests) != 3 {
			t.Fatal("half a line was taken for one")
		}
		cmds.print(theTask, "\n")
		if err := <-over; err != nil {
			t.Fatal(err)
		}
		if got := render(s.last().Messages); s.told("[await_1] bash_1 printed a line that matches /^green$/; here it is, as data:\n> green\nYour note: ship it") != 1 || len(s.requests) != 4 {
			t.Errorf("%d requests:%s", len(s.requests), got)
		}
		if st := se.State(); len(st.Awaits) != 0 || st.Turns != 2 || len(st.Faults) > 0 {
			t.Errorf("awaits %v, turns %d, faults %v", st.Awaits, st.Turns, st.Faults)
		}
		cmds.end(theTask, 0)
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}

// What has happened already when it is awaited is told with the very next request: a line, and an end.
func TestAwaitedAlready(t *testing.T) {
	for await, want := range map[string]string{
		`{"bash_id":"bash_1","pattern":"ready"}`: "[await_1] bash_1 printed a line that matches /ready/; here it is, as data:\n> now ready\nbash_1 ended with exit code 3 since.",
		`{"bash_id":"bash_1"}`:                   "[await_1] bash_1 ended with exit code 3: sleep",
		`{"bash_id":"bash_1","pattern":"blue"}`:  "[await_1] bash_1 ended with exit code 3, and no line that you had not read matched /blue/: sleep",
	} {
		synctest.Test(t, func(t *testing.T) {
			s, cmds := waiter(t, await)
			script := s.answer
			s.answer = func(ctx context.Context, n int, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
				if n == 1 {
					cmds.print(theTask, "begun\nnow ready\n")
					cmds.end(theTask, 3)
					<-time.After(time.Second) // the log knows of it
				}
				return script(ctx, n, r, sink)
			}
			p, se := s.start("go")
			se = restart(t, p, se)
			run(t, se)
			if len(s.requests) != 3 || s.told(want) != 1 || se.State().Turns != 1 {
				t.Errorf("%d requests, %d turns:%s", len(s.requests), se.State().Turns, render(s.last().Messages))
			}
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A process dies while it sleeps; what happens then is told once by the next, without --wait too, and reported.
func TestAwaitedWhileNobodyLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, cmds := waiter(t, `{"bash_id":"bash_1","event":"line","pattern":"green|amber","after_seconds":86400}`)
		p, se := s.start("go")
		se = restart(t, p, se)
		_, stop, over := waiting(t, se)
		<-time.After(time.Minute)
		p.store.Kill()
		stop()
		<-over
		_ = se.Close(t.Context(), "gone") // of a dead process: it can do nothing
		cmds.print(theTask, "amber\ngreen\n")
		<-time.After(48 * time.Hour)

		p = s.process()
		se = p.open(bypass)
		run(t, se)
		if s.told("[await_1]") != 1 || len(s.requests) != 4 {
			t.Errorf("%d requests:%s", len(s.requests), render(s.last().Messages))
		}
		// Both the time and the line came; whichever is told, it is reported.
		if rec := fmt.Sprint(se.Recovered()); !strings.Contains(rec, "await_1") || !strings.Contains(rec, "met meanwhile") {
			t.Errorf("recovered: %s", rec)
		}
		se = restart(t, p, se)
		p.say("more")
		run(t, se)
		if s.told("[await_1]") != 1 {
			t.Errorf("told again:%s", render(s.last().Messages))
		}
		cmds.end(theTask, 0)
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}

// An interrupt ends a sleep and leaves the await open; a message, on the other hand, runs and lets it sleep on.
func TestInterruptEndsSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, cmds := waiter(t, `{"bash_id":"bash_1"}`)
		p, se := s.start("go")
		se = restart(t, p, se)
		slept, _, over := waiting(t, se)
		<-time.After(time.Minute)
		p.say("how is it?")
		<-time.After(time.Minute)
		if *slept != 2 || len(s.requests) != 4 {
			t.Fatalf("slept %d times, %d requests", *slept, len(s.requests))
		}
		if err := se.Interrupt(t.Context(), store.Actor{Type: store.ActorUser}); err != nil {
			t.Fatal(err)
		}
		if err := <-over; err != nil || len(se.State().Awaits) != 1 {
			t.Fatalf("%v, awaits %v", err, se.State().Awaits)
		}
		_, stop, over := waiting(t, se)
		<-time.After(time.Minute)
		stop()
		if err := <-over; !errors.Is(err, engine.ErrParked) {
			t.Fatalf("%v", err)
		}
		cmds.end(theTask, 0)
		synctest.Wait()
		run(t, se)
		if s.told("[await_1] bash_1 ended with exit code 0") != 1 {
			t.Errorf("%s", render(s.last().Messages))
		}
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	})
}

// A time is told when it is over: of a timer, and of an end that has not come.
func TestAwaitedTime(t *testing.T) {
	for await, want := range map[string]string{
		`{"after_seconds":600}`:                                    "[await_1] 600 s are over.",
		`{"bash_id":"bash_1","after_seconds":600}`:                 "[await_1] after 600 s bash_1 has not ended: sleep",
		`{"bash_id":"bash_1","pattern":"x","after_seconds":"600"}`: "[await_1] after 600 s bash_1 has printed no line that matches /x/: sleep",
	} {
		synctest.Test(t, func(t *testing.T) {
			s, cmds := waiter(t, await)
			p, se := s.start("go")
			se = restart(t, p, se)
			began := time.Now()
			if err := se.RunWaiting(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(began); d < 10*time.Minute || d > 11*time.Minute || s.told(want) != 1 {
				t.Errorf("after %s:%s", d, render(s.last().Messages))
			}
			cmds.end(theTask, 0)
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// What the model knows already is not told: an end that it has read of, and one that it brought about.
func TestAwaitedEndKnown(t *testing.T) {
	for tool, input := range map[string]string{"BashOutput": `{"bash_id":"bash_1"}`, "KillBash": `{"shell_id":"bash_1"}`} {
		synctest.Test(t, func(t *testing.T) {
			s, cmds := waiter(t, `{"bash_id":"bash_1"}`)
			script := s.answer
			s.answer = func(ctx context.Context, n int, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
				if n == 2 {
					if tool == "BashOutput" {
						cmds.mu.Lock()
						code := 0
						cmds.cmds[theTask].st.Status, cmds.cmds[theTask].st.ExitCode = command.Exited, &code
						cmds.mu.Unlock()
					}
					return reply(modelapi.StopToolUse, use("c", tool, input)), nil
				}
				return script(ctx, n, r, sink)
			}
			p, se := s.start("go")
			se = restart(t, p, se)
			run(t, se)
			if st := se.State(); len(st.Awaits) > 0 || st.Turns != 1 || s.told("[await_1]") > 0 {
				t.Errorf("%s: awaits %v, turns %d:%s", tool, st.Awaits, st.Turns, render(s.last().Messages))
			}
			if tool == "BashOutput" {
				close(cmds.find(theTask).ended)
			}
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		})
	}
}
