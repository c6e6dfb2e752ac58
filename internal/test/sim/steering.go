package sim

import (
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
)

// Steering is a script whose commands are typed into, sent to the background while they run, and ended with their turn.
func Steering() *Script {
	return &Script{
		Prompts: []Prompt{{Turn: "steer"}, {Turn: "after"}},
		Commands: map[string]Behaviour{
			"run shell": {Output: "$ ", Forever: true},
			"run move":  {Output: "begun\nhalf", Forever: true, Hook: "steer", HookAt: 5 * time.Second},
			"run short": {Output: "short\n", Takes: time.Second},
			"run cut":   {Output: "cut\n", Forever: true},
		},
		Turns: map[string][]Reply{
			"steer": {
				say("shell", [2]string{"Bash", `{"command":"run shell","run_in_background":true,"stdin":true,"lifetime":"turn"}`}),
				say("type", [2]string{"BashInput", `{"bash_id":"bash_1","text":"ls"}`}, [2]string{"BashInput", `{"bash_id":"bash_1","text":"pwd","eof":true}`}),
				say("move", [2]string{"Bash", `{"command":"run move","timeout":600000}`}, bash("run short")),
				say("look", output("bash_2"), [2]string{"Bash", `{"command":"run cut","timeout":3000}`}),
				say("steered"),
			},
			"after": {say("kill", [2]string{"KillBash", `{"shell_id":["bash_2"]}`}), say("ended")},
		},
	}
}

// steer is a human who types into a task and sends what the agent waits for to the background.
func (h *human) steer() {
	h.send("type-1", &session.TaskInput{Task: "bash_1", Text: []byte("by hand\n")})
	h.send("detach-1", &session.ToolDetached{})
	h.send("type-2", &session.TaskInput{Task: "bash_1", Text: []byte("once more\n")})
}

var _ engine.Steering = commands{}

func (c commands) WriteStdin(sessionID, act string, b []byte) (n int, err error) {
	w := c.p.w
	dead := c.p.effect("command.write", func() {
		cmd := w.lookCommand(sessionID, act)
		switch {
		case cmd == nil || cmd.state.Status != command.Running:
			err = command.ErrEnded
		case !cmd.spec.Stdin || cmd.closed:
			err = command.ErrNoInput
		default:
			n = len(b)
			w.typed[sessionID+" "+act+": "+string(b)]++
		}
	})
	if dead != nil {
		return 0, dead
	}
	return n, err
}

func (c commands) CloseStdin(sessionID, act string) error {
	return c.p.effect("command.close", func() {
		if cmd := c.p.w.lookCommand(sessionID, act); cmd != nil {
			cmd.closed = false // as on a terminal, where the end of input can be typed again
		}
	})
}

func (c commands) Detach(sessionID, act string) (err error) {
	dead := c.p.effect("command.detach", func() {
		cmd := c.p.w.lookCommand(sessionID, act)
		if cmd == nil || cmd.state.Status != command.Running {
			err = command.ErrEnded
			return
		}
		c.p.w.intended(sessionID, session.KindToolDetached, `"act":"`+act+`"`)
		cmd.detached = true
	})
	if dead != nil {
		return dead
	}
	return err
}

// checkSteering checks that every write has one outcome, and that nothing was typed twice.
func (w *World) checkSteering(id string, log []entryOf) {
	open := map[int64]bool{}
	for _, e := range log {
		switch b := e.body.(type) {
		case *session.TaskInput:
			open[e.Seq] = true
		case *session.TaskWritten:
			if !open[b.Input] {
				w.faultLocked("session %s: write %d has two outcomes, or none was asked for", id, b.Input)
			}
			delete(open, b.Input)
			if b.Outcome != session.InputTaken && b.Outcome != session.InputUnknown {
				w.faultLocked("session %s: write %d is %s: %s", id, b.Input, b.Outcome, b.Reason)
			}
		default:
		}
	}
	for seq := range open {
		w.faultLocked("session %s: write %d has no outcome", id, seq)
	}
	for what, n := range w.typed {
		if n > 1 {
			w.faultLocked("typed %d times: %q", n, what)
		}
	}
}
