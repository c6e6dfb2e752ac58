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
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// steered are shims that can be written to and detached.
type steered struct {
	*shims
	typed    []string
	detached []string
	full     int   // writes that find no room
	refuse   error // of a detach
}

func (s *steered) WriteStdin(_, act string, b []byte) (int, error) {
	c := s.find(act)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case c == nil || c.st.Status != command.Running:
		return 0, command.ErrEnded
	case s.full > 0:
		s.full--
		return min(1, len(b)), command.ErrInputFull
	}
	s.typed = append(s.typed, string(b))
	return len(b), nil
}

func (s *steered) CloseStdin(_, act string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.typed = append(s.typed, "end of "+act)
	return nil
}

func (s *steered) Detach(_, act string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detached = append(s.detached, act)
	return s.refuse
}

func steerable(t *testing.T, calls ...model.Block) (*stage, *steered) {
	s, cmds := shell(t, calls...)
	st := &steered{shims: cmds}
	config := s.config
	s.config = func(c *engine.Config) { config(c); c.Commands = st }
	return s, st
}

const firstAct = "t1.s1.b1.a1"

// Goal: a command that is sent to the background while it runs becomes a task once, and the turn goes on; one that ends
// just then has its ordinary outcome, and no task comes of it.
func TestDetachWhileItRuns(t *testing.T) {
	for name, race := range map[string]bool{"in time": false, "too late": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, cmds := steerable(t, use("a", "Bash", `{"command":"sleep"}`))
				p, se := s.start("go")
				se = restart(t, p, se)
				if race {
					cmds.refuse = command.ErrEnded
				}
				stop, over := background(t, se)
				defer stop()
				<-time.After(time.Second) // of the bubble
				p.send("move", &session.ToolDetached{})
				if race {
					<-time.After(time.Second)
					_ = cmds.Kill(t.Context(), "s", firstAct, "unknown")
				}
				if err := <-over; err != nil {
					t.Fatal(err)
				}
				st, text := se.State(), render(s.last().Messages)
				switch {
				case race && (len(st.Tasks) > 0 || !strings.Contains(text, "killed by SIGKILL")):
					t.Errorf("tasks %+v\n%s", st.Tasks, text)
				case !race && (len(st.Tasks) != 1 || st.Tasks[0].ID != "bash_1" || st.Tasks[0].Act != firstAct || !strings.Contains(text, "moved it to the background as bash_1 (pid 7)")):
					t.Errorf("tasks %+v\n%s", st.Tasks, text)
				}
				if st.LastTurn == nil || st.LastTurn.Stop != session.TurnEndTurn || len(st.Faults) > 0 || len(cmds.detached) != 1 {
					t.Errorf("turn %+v, faults %v, detached %v", st.LastTurn, st.Faults, cmds.detached)
				}
				_ = cmds.Kill(t.Context(), "s", firstAct, "test")
				if err := se.Close(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// Goal: a cancel that comes with a detach, in either order, ends the turn; the command that was detached first lives.
func TestDetachAndCancel(t *testing.T) {
	for _, detachFirst := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s, cmds := steerable(t, use("a", "Bash", `{"command":"sleep"}`))
			p, se := s.start("go")
			se = restart(t, p, se)
			stop, over := background(t, se)
			defer stop()
			<-time.After(time.Second) // of the bubble
			// Both are in the inbox before the holder looks.
			items := []session.Body{&session.ToolDetached{Act: firstAct}, &session.CancelRequested{}}
			if !detachFirst {
				items[0], items[1] = items[1], items[0]
			}
			for i, b := range items {
				p.send(string(rune('a'+i)), b)
			}
			if err := <-over; err != nil {
				t.Fatal(err)
			}
			st := se.State()
			now, err := cmds.State("s", firstAct)
			lives := err == nil && now.Status == command.Running
			// A holder that looks between the two has ended the turn before the cancel comes.
			ended := st.LastTurn != nil && (st.LastTurn.Stop == session.TurnCancelled || lives && st.LastTurn.Stop == session.TurnEndTurn)
			if lives != detachFirst || (len(st.Tasks) == 1) != detachFirst || !ended || len(st.Faults) > 0 {
				t.Errorf("detach first %v: lives %v, tasks %+v, turn %+v, faults %v", detachFirst, lives, st.Tasks, st.LastTurn, st.Faults)
			}
			if lives {
				_ = cmds.Kill(t.Context(), "s", firstAct, "test")
			}
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Goal: writes are done in order, wait for a command that is slow to read, and tell what it did not take.
func TestWritesToATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, cmds := steerable(t, use("a", "Bash", `{"command":"sleep","run_in_background":true,"stdin":true}`))
		p, se := s.start("go")
		se = restart(t, p, se)
		run(t, se)
		cmds.full = 3
		p.send("a", &session.TaskInput{Task: "bash_1", Text: []byte("slowly")})
		p.send("b", &session.TaskInput{Task: "bash_1", Text: []byte("then"), EOF: true})
		run(t, se)
		if got := strings.Join(cmds.typed, ", "); got != "wly, then, end of "+firstAct {
			t.Errorf("typed %q", got)
		}
		cmds.full = 1 << 20
		p.send("c", &session.TaskInput{Task: "bash_1", Text: []byte(strings.Repeat("x", session.MaxInput))})
		p.send("d", &session.TaskInput{Task: "bash_9"})
		p.send("e", &session.TaskInput{Task: "bash_1", Text: make([]byte, session.MaxInput+1)})
		st := run(t, se)
		if n := len(st.Task("bash_1").Inputs); n != 0 {
			t.Errorf("%d writes wait", n)
		}
		_ = cmds.Kill(t.Context(), "s", firstAct, "test")
		p.send("f", &session.TaskInput{Task: "bash_1", Text: []byte("late")})
		run(t, se)
		var outcomes, refused []string
		for ev, err := range p.store.Read(t.Context(), "s", 1, 0) {
			if err != nil {
				t.Fatal(err)
			}
			body, _ := session.Decode(ev)
			switch b := body.(type) {
			case *session.TaskWritten:
				outcomes = append(outcomes, b.Key+" "+string(b.Outcome))
			case *session.InboxRefused:
				refused = append(refused, b.Key+" "+b.Reason)
			default:
			}
		}
		if got := strings.Join(outcomes, ", "); got != "a taken, b taken, c full, f ended" {
			t.Errorf("outcomes %s", got)
		}
		if got := strings.Join(refused, ", "); got != "d no task bash_9, e 65537 bytes, at most 65536 can be written at once" {
			t.Errorf("refused %s", got)
		}
		if err := se.Close(t.Context(), ""); err != nil && !errors.Is(err, engine.ErrParked) {
			t.Fatal(err)
		}
	})
}

// slowStart are shims that begin only when the test lets them.
type slowStart struct {
	*steered
	begin chan struct{}
}

func (s slowStart) Start(ctx context.Context, spec command.Spec) error {
	<-s.begin
	return s.steered.Start(ctx, spec)
}

// A command that was sent to the background lives, although a cancel came before anybody waited for it.
func TestCancelJustAfterDetach(t *testing.T) {
	const rounds = 16 // which of the two is noticed first is left to chance
	for range rounds {
		synctest.Test(t, func(t *testing.T) {
			s, cmds := steerable(t, use("a", "Bash", `{"command":"sleep"}`))
			slow, config := slowStart{cmds, make(chan struct{})}, s.config
			s.config = func(c *engine.Config) { config(c); c.Commands = slow }
			p, se := s.start("go")
			se = restart(t, p, se)
			stop, over := background(t, se)
			defer stop()
			<-time.After(time.Second) // of the bubble
			p.send("a", &session.ToolDetached{Act: firstAct})
			p.send("b", &session.CancelRequested{})
			<-time.After(time.Second)
			close(slow.begin)
			if err := <-over; err != nil {
				t.Fatal(err)
			}
			st := se.State()
			now, err := cmds.State("s", firstAct)
			if err != nil || now.Status != command.Running || len(st.Tasks) != 1 || len(st.Faults) > 0 || len(cmds.detached) != 1 {
				t.Errorf("%+v, %v; tasks %+v, faults %v, detached %v", now, err, st.Tasks, st.Faults, cmds.detached)
			}
			_ = cmds.Kill(t.Context(), "s", firstAct, "test")
			if err := se.Close(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		})
	}
}
