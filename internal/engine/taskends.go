package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
)

// collectTasks appends the end of every task that ended while nobody looked.
func (s *taskKeeper) collectTasks(ctx context.Context) error {
	for _, t := range s.state.View().Tasks {
		if t.Status != command.Running || t.Session != "" || s.eng.cfg.Commands == nil {
			continue
		}
		st, err := s.stateOf(ctx, t)
		if err != nil {
			return fmt.Errorf("session %s: task %s: %w", s.state.ID, t.ID, err)
		}
		if st.Status == command.Running || st.Stragglers > 0 {
			s.recovered = append(s.recovered, Recovery{Kind: "task", ID: t.ID, Text: "still running: " + t.Command})
			continue
		}
		if err := s.taskEnded(ctx, t, st); err != nil {
			return err
		}
		s.recovered = append(s.recovered, s.lost(t, st, " meanwhile"))
	}
	return nil
}

// taskEnded appends a task's end, and a note that tells the model with its next request.
func (s *taskKeeper) taskEnded(ctx context.Context, t session.Task, st command.State) error {
	if now := s.state.Task(t.ID); now == nil || now.Act != t.Act || now.Status != command.Running {
		return nil
	}
	return s.append(ctx, engineActor, s.taskEnd(t, st)...)
}

// taskEnd is a task's end, and a note that tells the model, unless the model ended the task itself.
func (s *taskKeeper) taskEnd(t session.Task, st command.State) []session.Body {
	bodies := []session.Body{&session.TaskExited{Task: t.ID, State: st}}
	if now := s.state.Task(t.ID); now.Kill != command.ByModel && !now.Told && !s.awaited(now) {
		bodies = append(bodies, note(session.TaskNote+"%s %s: %s%s]", t.ID, ended(st), commandWords(t.Command), quoted(s.lastOutput(t, st))))
	}
	return bodies
}

// ended says in words how a command ended, and whether output of it may be missing.
func ended(st command.State) string {
	return strings.Join(append([]string{howEnded(st)}, st.MissingText()...), "; ")
}

func howEnded(st command.State) string {
	switch st.Status {
	case command.Exited:
		if st.ExitCode != nil {
			text := fmt.Sprintf("ended with exit code %d", *st.ExitCode)
			if st.By == command.BySystem {
				text += " when the system ended everything around it"
			}
			return text
		}
	case command.Killed:
		return "was " + tools.KilledText(st)
	case command.Lost:
		return "is lost (" + st.Reason + ")"
	case command.Absent:
		return "never started"
	case command.Running:
	}
	return "ended"
}

// stragglersPause is how often a task that only descendants keep alive is looked at.
const stragglersPause = 100 * time.Millisecond

// waitForAll waits for a command and for everything that it left behind: until then the task runs.
func (s *taskKeeper) waitForAll(ctx context.Context, act string) (command.State, error) {
	st, err := s.eng.cfg.Commands.Wait(ctx, s.lease.Session, act)
	for err == nil && st.Stragglers > 0 {
		select {
		case <-ctx.Done():
			return st, ctx.Err()
		case <-time.After(stragglersPause):
			st, err = s.eng.cfg.Commands.Settle(ctx, s.lease.Session, act) // which adopts, should the shim die now
		}
	}
	return st, err
}

// watchTasks waits, beside the loop, for the end of every running task.
func (s *taskKeeper) watchTasks() {
	for _, t := range s.state.Tasks {
		if t.Status != command.Running || t.Session != "" || s.watched[t.Act] || s.eng.cfg.Commands == nil {
			continue
		}
		s.watched[t.Act] = true
		s.watchers.Go(func() {
			st, err := s.waitForAll(s.watchCtx, t.Act)
			if err != nil {
				if !errors.Is(err, context.Canceled) { // cancelled: the next run hears of its end
					s.eng.cfg.Log.Warn("the end of a task cannot be waited for", "session", s.lease.Session, "task", t.ID, "error", err)
				}
				return
			}
			// An error is one of the append, and ends the run.
			_ = s.ask(s.watchCtx, func() error { return s.taskEnded(s.watchCtx, t, st) })
		})
	}
}
