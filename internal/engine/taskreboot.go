package engine

import (
	"context"
	"fmt"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// restartTask asks for another attempt of a task that a reboot took, or says why there is none. It leaves the task due
// where commands cannot be run at all.
func (s *Session) restartTask(ctx context.Context, do session.RestartTask) (bool, error) {
	if s.eng.cfg.Commands == nil {
		return false, nil
	}
	t := s.state.Task(do.Task)
	if why := s.mayRestart(t); why != "" {
		return true, s.stayDown(ctx, t, why)
	}
	b := &session.TaskRequested{Task: t.ID, Bound: t.Bound, Cause: command.ReasonReboot}
	repeat(b, t)
	if err := s.prepareTask(b); err != nil {
		return true, s.stayDown(ctx, t, err.Error())
	}
	return true, s.append(ctx, engineActor, b)
}

// mayRestart says why today's rules keep a task from running again, or "". The human's grant answers a question; it
// overrides no refusal.
func (s *Session) mayRestart(t *session.Task) string {
	if t.Restart != session.RestartOnReboot {
		return "nobody granted it"
	}
	if err := s.mayRepeat(t); err != nil {
		return err.Error()
	}
	if err := s.admitSettings(t.TaskSettings); err != nil {
		return err.Error()
	}
	d := permission.Decide(s.policy(), permission.Request{Tool: "Bash", Command: t.Command, Background: true})
	switch {
	case d.Effect == permission.Deny:
		return "permission denied: " + d.Reason
	case d.Effect == permission.Ask && !t.Covered():
		return "the grant is for another command or directory, and today it has to be asked for: " + d.Reason
	}
	return ""
}

// stayDown records why a task is not run again, for people and for the model.
func (s *Session) stayDown(ctx context.Context, t *session.Task, why string) error {
	id, command := t.ID, t.Command
	err := s.append(ctx, engineActor, &session.TaskNotRestarted{Task: id, Reason: why},
		note("[Background task %s was not run again after the reboot (%s): %s]", id, why, commandWords(command)))
	if err == nil {
		s.recovered = append(s.recovered, Recovery{Kind: "task", ID: id, Text: "not run again after the reboot: " + why + ": " + command})
	}
	return err
}

// notStarted is the end of an attempt that provably did not begin. One that the restart policy had asked for stays down
// when it was tried and failed; one that an earlier holder did not get round to is due again.
func (s *Session) notStarted(t session.Task, st command.State, cause error) []session.Body {
	out := []session.Body{&session.TaskExited{Task: t.ID, State: st}}
	if cause != nil && t.Cause == command.ReasonReboot {
		out = append(out, &session.TaskNotRestarted{Task: t.ID, Reason: cause.Error()},
			note("[Background task %s could not be run again after the reboot (%v): %s]", t.ID, cause, commandWords(t.Command)))
	}
	return out
}

// runsAgain tells the model of a task that runs again because of its policy.
func runsAgain(t session.Task) []session.Body {
	if t.Cause != command.ReasonReboot {
		return nil
	}
	return []session.Body{note("[Background task %s runs again after the reboot, as attempt %d under the same id: %s]", t.ID, t.Attempt, commandWords(t.Command))}
}

// noteAgain tells people the same.
func (s *Session) noteAgain(t session.Task) {
	if t.Cause == command.ReasonReboot {
		s.recovered = append(s.recovered, Recovery{Kind: "task", ID: t.ID, Text: fmt.Sprintf("runs again after the reboot, attempt %d: %s", t.Attempt, t.Command)})
	}
}

func note(format string, args ...any) *session.MessageReceived {
	return &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart(fmt.Sprintf(format, args...))}}
}

// noteReboot reports what became known of a reboot since the last turn, whoever opened the session then.
func (s *Session) noteReboot() {
	since := int64(0)
	if s.state.LastTurn != nil {
		since = s.state.LastTurn.Seq
	}
	for i := range s.state.Tasks {
		switch t := &s.state.Tasks[i]; {
		case t.Session != "":
		case t.Cause == command.ReasonReboot && t.Requested > since && t.Live():
			s.recovered = append(s.recovered, Recovery{Kind: "task", ID: t.ID, Text: fmt.Sprintf("runs again after the reboot, attempt %d: %s", t.Attempt, t.Command)})
		case t.NotRestarted != "" && t.EndSeq > since:
			s.recovered = append(s.recovered, Recovery{Kind: "task", ID: t.ID, Text: "not run again after the reboot: " + t.NotRestarted + ": " + t.Command})
		case t.EndSeq > since && (t.Status == command.Lost && t.Reason == command.ReasonReboot || t.By == command.BySystem):
			s.recovered = append(s.recovered, s.lost(*t, t.CommandState(), ""))
		}
	}
}

// admitRestart takes a human's word on what becomes of a task after a reboot.
func (s *Session) admitRestart(b *session.TaskRestartSet) error {
	t, err := s.ownTask(b.Task)
	if err != nil {
		return err
	}
	if b.Restart != "" && b.Restart != session.RestartOnReboot {
		return fmt.Errorf("restart policy %q is not known", b.Restart)
	}
	if b.Restart != "" && (session.HidesCommand(t.Argv, t.Command, t.Cwd) || s.holdsCommand(t.Argv, t.Command, t.Cwd)) {
		return errSecretCommand
	}
	b.Bound = grantOf(b.Restart, t.Argv, t.Command, t.Cwd)
	return nil
}

// grantOf binds a restart policy to what it is granted for.
func grantOf(policy string, argv []string, command, cwd string) store.Digest {
	if policy == "" {
		return store.Digest{}
	}
	return session.CommandDigest(argv, command, cwd)
}
