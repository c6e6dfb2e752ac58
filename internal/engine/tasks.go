package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/store"
)

// tasks is how tools see background commands.
type tasks struct {
	s    *Session
	view *session.State
}

// Output reads from a task, the parent session's inherited ones included.
func (t tasks) Output(_ context.Context, id string, from int64, limit int) (b []byte, next, gap int64, st command.State, err error) {
	task := t.view.Task(id)
	if task == nil {
		return nil, 0, 0, st, fmt.Errorf("%w: %s", tools.ErrNoTask, id)
	}
	owner := t.s.ownerOf(task)
	// The state is read first: what it says was printed can then be read.
	if st, err = t.s.eng.cfg.Commands.State(owner, task.Act); err != nil {
		return nil, 0, 0, st, err
	}
	b, next, gap, err = t.s.eng.cfg.Commands.Read(owner, task.Act, from, limit)
	if err != nil {
		return nil, 0, 0, st, err
	}
	secrets := t.s.eng.cfg.Secrets
	if gap > 0 { // the beginning of one may lie in it
		torn := secrets.Torn(b)
		b, gap = b[torn:], gap+int64(torn)
	}
	// What may be the beginning of a secret is kept back until the rest is there.
	if keep := secrets.Partial(b); keep > 0 && (st.Status == command.Running || next < st.Output) {
		b, next = b[:len(b)-keep], next-int64(keep)
	}
	return secrets.Replace(b), next, gap, st, nil
}

// Write types into a task of this session. Its intent is the call's own start.
func (t tasks) Write(ctx context.Context, id string, text []byte, eof bool) (n int, outcome session.InputOutcome, st command.State, err error) {
	task := t.view.Task(id)
	switch {
	case task == nil:
		return 0, "", st, fmt.Errorf("%w: %s", tools.ErrNoTask, id)
	case task.Session != "":
		return 0, "", st, fmt.Errorf("task %s belongs to session %s", id, task.Session)
	case t.s.steering() == nil:
		return 0, "", st, errors.New("commands cannot be written to here")
	}
	n, outcome, err = typeInto(ctx, t.s.steering(), t.s.lease.Session, task.Act, text, eof)
	if outcome == "" || outcome == session.InputUnknown {
		return n, outcome, st, err
	}
	st, err = t.s.eng.cfg.Commands.State(t.s.lease.Session, task.Act)
	return n, outcome, st, err
}

func (s *Session) ownerOf(t *session.Task) string {
	if t.Session != "" {
		return t.Session
	}
	return s.lease.Session
}

// Kill ends a task of this session: the intent is logged before the signal.
func (t tasks) Kill(ctx context.Context, id string) (command.State, error) {
	task := t.view.Task(id)
	switch {
	case task == nil:
		return command.State{}, fmt.Errorf("%w: %s", tools.ErrNoTask, id)
	case task.Session != "":
		return command.State{}, fmt.Errorf("task %s belongs to session %s", id, task.Session)
	}
	err := t.s.ask(ctx, func() error {
		if now := t.s.state.Task(id); now == nil || now.Status != command.Running || now.Kill != "" {
			return nil
		}
		return t.s.append(ctx, store.Actor{Type: store.ActorTool, ID: "KillBash"}, &session.TaskSignalled{Task: id, Signal: "SIGTERM", By: command.ByModel})
	})
	if err != nil {
		return command.State{}, err
	}
	return t.s.eng.cfg.Commands.Wait(ctx, t.s.lease.Session, task.Act)
}

// killTask ends a task whose end was asked for; that it is to end is in the log first.
func (s *Session) killTask(ctx context.Context, id string, do session.KillTask) error {
	if do.Intend {
		return s.append(ctx, engineActor, &session.TaskSignalled{Task: do.Task, Signal: "SIGTERM", By: do.By})
	}
	task := *s.state.Task(do.Task)
	s.fly(id, func(ctx context.Context) landing {
		err := s.eng.cfg.Commands.Kill(ctx, s.lease.Session, task.Act, do.By)
		var st command.State
		if err == nil {
			st, err = s.eng.cfg.Commands.Wait(ctx, s.lease.Session, task.Act)
		}
		if ctx.Err() != nil {
			return landing{}
		}
		if err != nil {
			// One whose record is gone cannot be killed; that it is lost is its end.
			now, stateErr := s.eng.cfg.Commands.State(s.lease.Session, task.Act)
			if stateErr != nil || now.Status == command.Running {
				return landing{err: fmt.Errorf("task %s: %w", task.ID, err)}
			}
			st = now
		}
		return landing{actor: engineActor, late: func() []session.Body {
			if now := s.state.Task(task.ID); now == nil || now.Act != task.Act || !now.Live() {
				return nil // whoever watches it was faster
			}
			return s.taskEnd(task, st)
		}}
	})
	return nil
}

// nextTask names the next task. The number counts up over the names that were given, not over those that were only
// meant to be, so that an interruption does not show in them.
func (s *Session) nextTask() string {
	n := 0
	if s.state.Dropped.Tasks > 0 {
		n = s.state.NextTask
	}
	for _, t := range s.state.Tasks {
		if i, err := strconv.Atoi(strings.TrimPrefix(t.ID, taskPrefix)); err == nil {
			n = max(n, i)
		}
	}
	// A background command that is about to become a task has its name already.
	for c := range s.openCalls() {
		if c.Start != nil && c.Start.Task != "" {
			if i, err := strconv.Atoi(strings.TrimPrefix(c.Start.Task, taskPrefix)); err == nil {
				n = max(n, i)
			}
		}
	}
	return taskPrefix + strconv.Itoa(n+1)
}

// openCalls are the calls of the open step that have no outcome yet.
func (s *Session) openCalls() iter.Seq[*session.Call] {
	return func(yield func(*session.Call) bool) {
		if s.state.Turn == nil {
			return
		}
		for i := range s.state.Turn.Calls {
			if c := &s.state.Turn.Calls[i]; !c.Settled() && !yield(c) {
				return
			}
		}
	}
}

const taskPrefix = "bash_"
