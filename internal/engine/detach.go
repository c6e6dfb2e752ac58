package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/store"
)

// admitDetach completes a request to send a foreground command to the background.
func (s *Session) admitDetach(b *session.ToolDetached) error {
	if s.steering() == nil {
		return errors.New("commands cannot be sent to the background here")
	}
	if t := s.state.Turn; t == nil || t.Cancel != nil {
		return errors.New("no command runs in the foreground")
	}
	var running []string
	for c := range s.openCalls() {
		if c.Detachable() {
			running = append(running, c.ID)
		}
	}
	switch {
	case len(running) == 0:
		return errors.New("no command runs in the foreground")
	case b.Act == "" && len(running) > 1:
		return fmt.Errorf("more than one command runs in the foreground: %v", running)
	case b.Act == "":
		b.Act = running[0]
	case !slices.Contains(running, b.Act):
		return fmt.Errorf("act %s is no command that runs in the foreground", b.Act)
	}
	b.Task = s.nextTask()
	return nil
}

// detachFlights tells whoever waits for a foreground command that it was sent to the background.
func (s *Session) detachFlights() {
	for c := range s.openCalls() {
		if f := s.flights[c.ID]; f != nil && c.Start != nil && c.Start.Moved && !f.told {
			f.told = true
			f.moved <- *c.Start
		}
	}
}

// waitForeground waits for the command, or until it was sent to the background: then it returns what the log says of
// it now.
func (f commandFlight) waitForeground(ctx context.Context) (command.State, *session.Start, error) {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	over, moved := make(chan struct{}), make(chan session.Start, 1)
	go func() {
		defer close(over)
		select {
		case start := <-f.moved:
			moved <- start
			stop()
		case <-waiting.Done():
		}
	}()
	st, err := f.s.eng.cfg.Commands.Wait(waiting, f.s.lease.Session, f.act)
	stop()
	<-over
	select {
	case start := <-moved:
		return st, &start, nil
	case start := <-f.moved:
		return st, &start, nil
	default:
		return st, nil, err
	}
}

// move makes a task of a foreground command that was sent to the background. One that has ended before that has its
// ordinary outcome, and no task comes of it.
func (f commandFlight) move(ctx context.Context) landing {
	if errors.Is(context.Cause(ctx), errCancelled) {
		ctx = context.WithoutCancel(ctx) // the cancel is of the turn, to which the command no longer belongs
	}
	st, err := f.begun(ctx)
	if err == nil && st.Status == command.Running {
		err = f.s.steering().Detach(f.s.lease.Session, f.act)
	}
	if err == nil && st.Status != command.Running || errors.Is(err, command.ErrEnded) {
		if st, err = f.s.eng.cfg.Commands.Wait(ctx, f.s.lease.Session, f.act); err == nil {
			return f.outcome(st, false)
		}
	}
	switch {
	case ctx.Err() != nil:
		return landing{}
	case err != nil:
		return landing{err: fmt.Errorf("act %s: %w", f.act, err)}
	}
	out, position, err := f.soFar()
	if err != nil {
		return landing{err: fmt.Errorf("act %s: output: %w", f.act, err)}
	}
	r := tools.MovedResult(f.start.Task, st.PID, out)
	return landing{actor: store.Actor{Type: store.ActorTool, ID: f.name}, then: f.s.watchTasks, bodies: []session.Body{
		f.task(st),
		&session.TaskRead{Task: f.start.Task, Position: position},
		&session.ToolFinished{Act: f.act, Outcome: session.OutcomeOK, Collected: f.collected, Content: f.s.redact(r.Content)},
	}}
}

// soFar reads what a running command has printed, and up to where: to the end of a line, if there is one.
func (f commandFlight) soFar() (out tools.Output, position int64, err error) {
	st, err := f.s.eng.cfg.Commands.State(f.s.lease.Session, f.act)
	if err != nil {
		return out, 0, err
	}
	if out, _, err = f.quote(st); err != nil {
		return out, 0, err
	}
	position = st.Output
	end := &out.Head
	if out.Tail != nil || out.Omitted > 0 {
		end = &out.Tail
	}
	rest := f.s.eng.cfg.Secrets.Partial(*end)
	if line := bytes.LastIndexByte(*end, '\n'); line >= 0 {
		rest = len(*end) - line - 1 // what is not a whole line yet is new when it is
	}
	*end, position = (*end)[:len(*end)-rest], position-int64(rest)
	out.Total = position
	secrets := f.s.eng.cfg.Secrets
	out.Head, out.Tail = secrets.Replace(out.Head), secrets.Replace(out.Tail)
	return out, position, nil
}
