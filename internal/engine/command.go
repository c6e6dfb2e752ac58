package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// commandFlight follows one command to its outcome, whoever started it.
type commandFlight struct {
	s         *Session
	act       string
	name      string // of the tool
	tool      tools.Commander
	command   tools.Command
	start     session.Start
	env       command.EnvDelta // the session's, before the command
	cwd       string
	turn      int
	collected bool
	moved     chan session.Start // it was sent to the background: what the log says of it now
}

func (s *Session) commandFlight(act string, p plan, t tools.Commander, start session.Start, collected bool) commandFlight {
	return commandFlight{
		s: s, act: act, name: p.call.Name, tool: t, command: *p.command, start: start,
		env: s.state.Env, cwd: s.state.Cwd, turn: s.state.Turn.N, collected: collected, moved: make(chan session.Start, 1),
	}
}

// notStarted handles a shim that could not be started. If that is certain, it is an ordinary error.
func (f commandFlight) notStarted(ctx context.Context, cause error) landing {
	st, err := f.s.eng.cfg.Commands.Settle(context.WithoutCancel(ctx), f.s.lease.Session, f.act)
	switch {
	case err != nil:
		return landing{err: fmt.Errorf("act %s: %w", f.act, errors.Join(cause, err))}
	case st.Status != command.Absent:
		return f.collect(ctx)
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), errCancelled):
		return landing{}
	case ctx.Err() != nil:
		l := cancelledLanding(f.act, nil)
		l.then = f.forget
		return l
	}
	return landing{actor: engineActor, then: f.forget, bodies: []session.Body{&session.ToolFinished{
		Act: f.act, Outcome: session.OutcomeError,
		Content: []model.Part{model.TextPart(fmt.Sprintf("The command could not be started: %v", cause))},
	}}}
}

// collect waits for the command and words its outcome; a background command is only named, and so is one that is sent
// to the background meanwhile.
func (f commandFlight) collect(ctx context.Context) landing {
	switch {
	case f.start.Moved:
		return f.move(ctx)
	case f.start.Background:
		return f.announce(ctx)
	}
	cmds, id := f.s.eng.cfg.Commands, f.s.lease.Session
	st, moved, err := f.waitForeground(ctx)
	if moved != nil {
		f.start = *moved
		return f.move(ctx)
	}
	cancelled := false
	if ctx.Err() != nil {
		if !errors.Is(context.Cause(ctx), errCancelled) {
			return landing{}
		}
		cancelled = true
		ctx = context.WithoutCancel(ctx)
		if err = cmds.Kill(ctx, id, f.act, command.ByUser); err == nil {
			st, err = cmds.Wait(ctx, id, f.act)
		}
	}
	if err != nil {
		return landing{err: fmt.Errorf("act %s: %w", f.act, err)}
	}
	return f.outcome(st, cancelled)
}

// How often, and how many times, a shim is looked at that has not said yet what it started: ten seconds in all.
const (
	beginPause = 5 * time.Millisecond
	beginTries = 2000
)

// begun gives the state of a background command once its process is known, or once it provably did not begin. A shim
// outlives the agent that started it, and may still be about to start the command when the next agent looks.
func (f commandFlight) begun(ctx context.Context) (command.State, error) {
	for try := 0; ; try++ {
		st, err := f.s.eng.cfg.Commands.State(f.s.lease.Session, f.act)
		if err != nil || st.Status != command.Running || st.PID != 0 || try == beginTries {
			return st, err
		}
		select {
		case <-ctx.Done():
			return st, ctx.Err()
		case <-time.After(beginPause):
		}
	}
}

// announce makes a background command a task.
func (f commandFlight) announce(ctx context.Context) landing {
	st, err := f.begun(ctx)
	switch {
	case ctx.Err() != nil && err != nil:
		return landing{}
	case err != nil:
		return landing{err: fmt.Errorf("act %s: %w", f.act, err)}
	case st.Status == command.Absent:
		return f.outcome(st, false)
	}
	r := tools.BackgroundResult(f.start.Task, st.PID)
	return landing{actor: store.Actor{Type: store.ActorTool, ID: f.name}, then: f.s.watchTasks, bodies: []session.Body{
		f.task(st),
		&session.ToolFinished{Act: f.act, Outcome: session.OutcomeOK, Collected: f.collected, Content: r.Content},
	}}
}

func (f commandFlight) task(st command.State) *session.TaskStarted {
	t := session.Task{
		ID: f.start.Task, Act: f.act, Command: f.command.Script, Cwd: f.cwd,
		PID: st.PID, StartTicks: st.StartTicks, BootID: st.BootID, TaskSettings: f.start.TaskSettings,
	}
	if t.Lifetime == session.LifetimeTurn {
		t.Turn = f.turn
	}
	return &session.TaskStarted{Task: t}
}

// outcome words how a foreground command ended.
func (f commandFlight) outcome(st command.State, cancelled bool) landing {
	actor := store.Actor{Type: store.ActorTool, ID: f.name}
	st = f.s.sinceBoot(st, f.start.BootID)
	if st.Status == command.Absent {
		return landing{actor: engineActor, then: f.forget, bodies: []session.Body{&session.ToolVoid{Act: f.act, Reason: "the command did not run"}}}
	}
	out, err := f.output(st)
	if err != nil {
		return landing{err: fmt.Errorf("act %s: output: %w", f.act, err)}
	}
	r, err := f.word(st, &out)
	if err != nil {
		return landing{err: fmt.Errorf("act %s: output: %w", f.act, err)}
	}
	fin := &session.ToolFinished{
		Act: f.act, Outcome: session.OutcomeOK, Collected: f.collected, ExitCode: st.ExitCode, Output: out.Path,
		Content: f.s.redact(r.Content),
	}
	switch {
	case st.Status == command.Lost:
		return landing{actor: engineActor, then: f.forget, bodies: []session.Body{
			&session.ToolUnknown{Act: f.act, Reason: "lost: " + st.Reason, Content: fin.Content},
		}}
	case cancelled:
		fin.Outcome = session.OutcomeCancelled
		fin.Content = append(fin.Content, model.TextPart("\nCancelled by user."))
	case r.IsError:
		fin.Outcome = session.OutcomeError
	}
	if st.Status == command.Exited {
		if st.Cwd != "" && st.Cwd != f.cwd && utf8.ValidString(st.Cwd) { // the log keeps text
			if f.s.holds(st.Cwd) {
				fin.Content = append(fin.Content, model.TextPart("\n[the name of the new working directory holds a secret and is not kept: "+
					"the next command starts in "+f.cwd+"]"))
			} else {
				fin.Cwd = st.Cwd
			}
		}
		// What a command exported of a secret under another name stays out of the log, and so out of later commands.
		fin.Env = mergeEnv(f.env, session.RedactEnv(st.Env, f.s.eng.cfg.Secrets.Replace))
	}
	l := landing{actor: actor, bodies: append(r.Events, fin), then: f.forget}
	if st.Stragglers > 0 {
		l.late, l.then = func() []session.Body { return f.stragglers(st, fin) }, f.s.watchTasks
	}
	return l
}

// stragglers makes a task of what a foreground command left behind, and names it in the result.
func (f commandFlight) stragglers(st command.State, fin *session.ToolFinished) []session.Body {
	f.start.Task = f.s.nextTask()
	fin.Content = append(fin.Content, model.TextPart("\n[what is still running is background task "+f.start.Task+"]"))
	return []session.Body{f.task(st)}
}

// word gives the tool's words for the outcome. What they leave out of the output is kept in a file that they name.
func (f commandFlight) word(st command.State, out *tools.Output) (r tools.Result, err error) {
	// Before anything is cut off, so that no cut leaves a part of a secret standing.
	out.Head, out.Tail = f.s.eng.cfg.Secrets.Replace(out.Head), f.s.eng.cfg.Secrets.Replace(out.Tail)
	r = f.tool.Result(f.command, st, *out)
	if r.Full != nil && f.s.eng.cfg.OutDir != "" {
		if out.Path, err = f.keep(st); err == nil {
			r = f.tool.Result(f.command, st, *out)
		}
	}
	return r, err
}

// forget removes the act directory of a command whose outcome is in the log.
func (f commandFlight) forget() { f.s.forget(f.act) }

func (s *Session) forget(act string) {
	if err := s.eng.cfg.Commands.Remove(s.lease.Session, act); err != nil {
		s.eng.cfg.Log.Info("act directory stays", "session", s.lease.Session, "act", act, "error", err)
	}
}
