package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
)

// admitTask completes a request to run a task: its id, its act, and a directory that is durable before the log says
// that it is to start.
func (s *Session) admitTask(b *session.TaskRequested, key string) error {
	if s.eng.cfg.Commands == nil {
		return s.eng.noCommands()
	}
	if b.Task != "" {
		old, err := s.ownTask(b.Task)
		if err != nil {
			return err
		}
		if old.Live() {
			return fmt.Errorf("task %s still runs", b.Task)
		}
		if err := s.mayRepeat(old); err != nil {
			return err
		}
		repeat(b, old)
	} else {
		b.Task = s.nextTask()
	}
	if err := s.mayRun(b); err != nil {
		return err
	}
	b.Key, b.Cause, b.Bound = key, "", grantOf(b.Restart, b.Argv, b.Command, b.Cwd)
	return s.prepareTask(b)
}

// repeat fills in what another attempt of a task shares with the one before.
func repeat(b *session.TaskRequested, old *session.Task) {
	b.Name, b.Argv, b.Command, b.Cwd, b.Restart = old.Name, old.Argv, old.Command, old.Cwd, old.Restart
	b.TaskSettings = old.TaskSettings
}

// prepareTask names the act of a task's next attempt and makes its directory, which is there before the request is.
func (s *Session) prepareTask(b *session.TaskRequested) error {
	attempt := 1
	if old := s.state.Task(b.Task); old != nil {
		attempt = max(old.Attempt, 1) + 1
	}
	b.Epoch, b.Act = s.lease.Epoch, fmt.Sprintf("task.%s.a%d", b.Task, attempt)
	spec, err := s.taskSpec(b.Act, b.Argv, b.Command, b.Cwd, b.TaskSettings)
	if err != nil {
		return err
	}
	s.prepared[b.Act] = spec
	return s.eng.cfg.Commands.Prepare(s.watchCtx, spec)
}

func (s *Session) taskSpec(act string, argv []string, script, cwd string, set session.TaskSettings) (command.Spec, error) {
	env, err := s.environ()
	spec := command.Spec{Version: 1, Session: s.lease.Session, Act: act, Argv: argv, Cwd: cwd, Env: env}
	if len(argv) == 0 {
		spec.Script = script
	}
	applySettings(&spec, set)
	return spec, err
}

// startTask starts a task that was requested. What an earlier holder was to start is only looked up: whether to start
// it again is for whoever asked.
func (s *Session) startTask(id string, do session.StartTask) error {
	t := *s.state.Task(do.Task)
	// What was prepared is what starts, though the environment may have changed since.
	spec, ok := s.prepared[t.Act]
	if !ok && !do.Settle {
		var err error
		if spec, err = s.taskSpec(t.Act, t.Argv, t.Command, t.Cwd, t.TaskSettings); err != nil {
			return fmt.Errorf("session %s: task %s: %w", s.state.ID, t.ID, err)
		}
	}
	s.fly(id, func(ctx context.Context) landing {
		cmds := s.eng.cfg.Commands
		var cause error
		if !do.Settle {
			cause = cmds.Start(ctx, spec)
		}
		st, err := cmds.Settle(ctx, s.lease.Session, t.Act)
		switch {
		case ctx.Err() != nil:
			return landing{}
		case err != nil:
			return landing{err: fmt.Errorf("task %s: %w", t.ID, errors.Join(cause, err))}
		case st.Status == command.Absent:
			if cause != nil {
				st.Reason = cause.Error()
			}
			return landing{actor: engineActor, bodies: s.notStarted(t, st, cause), then: func() { delete(s.prepared, t.Act); s.forget(t.Act) }}
		}
		bodies := []session.Body{&session.TaskStarted{Task: session.Task{
			ID: t.ID, Act: t.Act, PID: st.PID, StartTicks: st.StartTicks, BootID: st.BootID,
		}}}
		return landing{actor: engineActor, then: func() { delete(s.prepared, t.Act); s.noteAgain(t); s.watchTasks() }, bodies: append(bodies, runsAgain(t)...)}
	})
	return nil
}
