package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
)

// steering is how running commands are reached, or nil.
func (s *Session) steering() Steering {
	st, _ := s.eng.cfg.Commands.(Steering)
	return st
}

// admitInput completes a request to write to a task. A task that has ended is no reason to refuse: that is the
// outcome.
func (s *Session) admitInput(b *session.TaskInput, key string) error {
	t, err := s.ownTask(b.Task)
	switch {
	case err != nil:
		return err
	case s.steering() == nil:
		return errors.New("commands cannot be written to here")
	case len(b.Text) > session.MaxInput:
		return fmt.Errorf("%d bytes, at most %d can be written at once", len(b.Text), session.MaxInput)
	case len(t.Inputs) >= session.MaxInputs:
		return fmt.Errorf("%d writes wait for task %s already", len(t.Inputs), b.Task)
	case string(s.eng.cfg.Secrets.Replace(b.Text)) != string(b.Text):
		return errors.New("the text holds a known secret, which the log must not keep: type it in with perdure task attach")
	}
	b.Epoch, b.Key = s.lease.Epoch, key
	return nil
}

// writeTask writes to a task what was asked for. What an earlier holder was to write is not written again.
func (s *Session) writeTask(ctx context.Context, id string, do session.WriteTask) error {
	t := *s.state.Task(do.Task)
	done := session.TaskWritten{Task: t.ID, Input: do.Input.Seq, Key: do.Input.Key}
	switch {
	case do.Input.Act != t.Act:
		done.Outcome, done.Reason = session.InputEnded, "the attempt that it was meant for has ended"
		return s.append(ctx, engineActor, &done)
	case do.Settle:
		done.Outcome, done.Reason = session.InputUnknown, "the agent was interrupted while it wrote; it is not written again"
		return s.append(ctx, engineActor, &done)
	}
	in, err := s.inputOf(ctx, do.Input.Seq)
	if err != nil {
		return fmt.Errorf("session %s: task %s: %w", s.state.ID, t.ID, err)
	}
	s.fly(id, func(ctx context.Context) landing {
		n, outcome, err := typeInto(ctx, s.steering(), s.lease.Session, t.Act, in.Text, in.EOF)
		switch {
		case ctx.Err() != nil && outcome == "":
			return landing{}
		case err != nil:
			done.Reason = err.Error()
		}
		done.Bytes, done.Outcome = int64(n), outcome
		return landing{actor: engineActor, bodies: []session.Body{&done}}
	})
	return nil
}

// inputOf reads the text of a write from the log.
func (s *Session) inputOf(ctx context.Context, seq int64) (*session.TaskInput, error) {
	for ev, err := range s.eng.cfg.Store.Read(ctx, s.state.ID, seq, seq) {
		if err != nil {
			return nil, err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return nil, err
		}
		if in, ok := body.(*session.TaskInput); ok {
			return in, nil
		}
	}
	return nil, fmt.Errorf("event %d holds no input", seq)
}

// How often, and how many times, a command that does not read its input is offered more of it: five seconds in all.
const (
	inputPause = 10 * time.Millisecond
	inputTries = 500
)

// typeInto writes to a command and says what became of it; an empty outcome is that of a broken-off wait. What is no
// outcome of a command's is an error too, of unknown outcome.
func typeInto(ctx context.Context, to Steering, sessionID, act string, text []byte, eof bool) (done int, outcome session.InputOutcome, err error) {
	for try := 0; done < len(text); try++ {
		n, err := to.WriteStdin(sessionID, act, text[done:])
		if done += n; err != nil && (!errors.Is(err, command.ErrInputFull) || try == inputTries) {
			return done, inputOutcome(err), err
		}
		if done == len(text) {
			break
		}
		select {
		case <-ctx.Done():
			return done, "", context.Cause(ctx)
		case <-time.After(inputPause):
		}
	}
	if len(text) == 0 && !eof {
		_, err = to.WriteStdin(sessionID, act, nil) // says whether there is anybody
	}
	if eof {
		err = to.CloseStdin(sessionID, act)
	}
	return done, inputOutcome(err), err
}

func inputOutcome(err error) session.InputOutcome {
	switch {
	case err == nil:
		return session.InputTaken
	case errors.Is(err, command.ErrEnded):
		return session.InputEnded
	case errors.Is(err, command.ErrNoInput):
		return session.InputClosed
	case errors.Is(err, command.ErrInputFull):
		return session.InputFull
	}
	return session.InputUnknown
}
