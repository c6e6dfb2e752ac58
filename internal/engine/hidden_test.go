package engine_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// keeps opens a session in a bubble, and closes it whatever the test saw.
func keeps(t *testing.T, se *engine.Session, do func(*session.State)) {
	t.Helper()
	do(run(t, se))
	if err := se.Close(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
}

// Goal: what the log shows of a command that held a secret is not what was asked for. It is never run: not by a grant for
// reboots, which is not taken either, not because a human asks for another attempt.
func TestHiddenCommandIsNotRunAgain(t *testing.T) {
	for _, granted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, cmds := shell(t, use("a", "Bash", `{"command":"then serve `+secretValue+`","run_in_background":true}`))
			cmds.texts = map[string]string{"then serve " + secretValue: "up\n"}
			guard(s)
			p, se := s.start("go")
			se = restart(t, p, se)
			refused := 0
			keeps(t, se, func(st *session.State) {
				if len(st.Tasks) != 1 || st.Tasks[0].Command != "then serve [secret:TOK]" {
					t.Fatalf("tasks %+v", st.Tasks)
				}
				p.send("grant", &session.TaskRestartSet{Task: "bash_1", Restart: session.RestartOnReboot})
				if err := se.Drain(t.Context()); err != nil {
					t.Fatal(err)
				}
				if refused = happened(t, p, session.KindInboxRefused); refused != 1 || st.Tasks[0].Restart != "" {
					t.Errorf("%d refused, policy %q", refused, st.Tasks[0].Restart)
				}
				if !granted {
					return
				}
				set := &session.TaskRestartSet{
					Task: "bash_1", Restart: session.RestartOnReboot,
					Bound: session.CommandDigest(nil, st.Tasks[0].Command, st.Tasks[0].Cwd),
				}
				if err := se.Append(t.Context(), store.Actor{Type: store.ActorUser}, set); err != nil {
					t.Fatal(err)
				}
			})
			cmds.mu.Lock()
			for _, c := range cmds.cmds {
				c.st.Status, c.st.Reason = command.Lost, command.ReasonReboot
				close(c.ended)
			}
			cmds.mu.Unlock()
			config := s.config
			s.config = func(c *engine.Config) { config(c); c.BootID = "c" }
			p = s.process()
			se = p.open(bypass)
			keeps(t, se, func(st *session.State) {
				if why := st.Tasks[0].NotRestarted; granted && (!strings.Contains(why, "secret") || !strings.Contains(why, "start it anew")) {
					t.Errorf("not restarted because %q", why)
				}
				p.send("again", &session.TaskRequested{Task: "bash_1"})
				if err := se.Drain(t.Context()); err != nil {
					t.Fatal(err)
				}
				if n := happened(t, p, session.KindInboxRefused); n != refused+1 {
					t.Errorf("another attempt was taken: %d refused", n)
				}
				_, err := p.MayRunTask(st, nil, &session.TaskRequested{Task: "bash_1"})
				if err == nil || !strings.Contains(err.Error(), "start it anew") {
					t.Errorf("it may run again: %v", err)
				}
			})
			if len(cmds.cmds) != 1 {
				t.Errorf("%d commands were started", len(cmds.cmds))
			}
		})
	}
}

// Goal: a request that holds a secret becomes no intent that a later holder could carry out: a holder that knows more
// secrets than the sender refuses it, and a program cannot append it either.
func TestRequestWithASecretIsNotTaken(t *testing.T) {
	user := store.Actor{Type: store.ActorUser}
	for name, b := range map[string]session.TaskRequested{
		"command":   {Command: "serve " + secretValue, Cwd: "/w"},
		"argv":      {Command: "serve it", Argv: []string{"serve", secretValue}, Cwd: "/w"},
		"directory": {Command: "serve", Cwd: "/w/" + secretValue},
	} {
		s, cmds := shell(t)
		guard(s)
		p, se := s.start("go")
		sent := b
		p.send("run", &sent)
		run(t, se)
		if n := happened(t, p, session.KindInboxRefused); n != 1 || len(cmds.cmds) != 0 {
			t.Errorf("%s: %d refused, %d started", name, n, len(cmds.cmds))
		}
		leaked(t, name, logged(t, p.store))
		if name == "directory" {
			continue // kept as it is wherever it stands
		}
		own := b
		own.Task, own.Act = "bash_1", "task.bash_1.a1"
		if err := se.Append(t.Context(), user, &own); !errors.Is(err, session.ErrUnfit) {
			t.Errorf("%s: append: %v", name, err)
		}
		if err := se.TendTasks(t.Context()); err != nil || len(cmds.cmds) != 0 {
			t.Errorf("%s: %v, %d started", name, err, len(cmds.cmds))
		}
	}
}

// Goal: of an environment whose value the log hides only the name is left, so nothing is run again in it.
func TestHiddenEnvironmentIsNotUsedAgain(t *testing.T) {
	s, cmds := shell(t)
	guard(s)
	p, se := s.start("go")
	p.send("run", &session.TaskRequested{Command: "print 16", Cwd: "/w"})
	run(t, se)
	hidden, st := "[secret:TOK]", *se.State()
	st.Env = command.EnvDelta{"OTHER": &hidden}
	_, err := p.MayRunTask(&st, nil, &session.TaskRequested{Task: "bash_1"})
	if err == nil || !strings.Contains(err.Error(), "OTHER") || !strings.Contains(err.Error(), "start it anew") {
		t.Errorf("it may run again: %v", err)
	}
	if _, err := p.MayRunTask(&st, nil, &session.TaskRequested{Command: "print 16", Cwd: "/w"}); err != nil {
		t.Errorf("a new one may not: %v", err)
	}
	if len(cmds.cmds) != 1 {
		t.Errorf("%d commands", len(cmds.cmds))
	}
}
