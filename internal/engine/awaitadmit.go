package engine

import (
	"fmt"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
)

// admitAwait completes a person's wish that the model be told of something.
func (s *admission) admitAwait(b *session.AwaitSet, key string) error {
	a := session.Await{
		Key:   key,
		Event: b.Await.Event, Task: b.Await.Task, Pattern: b.Await.Pattern, From: max(0, b.Await.From), AfterMS: b.Await.AfterMS,
		Note: string(s.eng.cfg.Secrets.Replace([]byte(b.Await.Note))),
	}
	if err := tools.CheckAwait(a); err != nil {
		return err
	}
	open := 0
	for _, o := range s.state.Awaits {
		if o.Session == "" {
			open++
		}
	}
	switch {
	case s.state.Lifecycle == session.LifecycleClosed || s.state.Lifecycle == session.LifecycleArchived:
		return fmt.Errorf("the session is %s", s.state.Lifecycle)
	case open >= session.MaxAwaits:
		return fmt.Errorf("%d awaits are open, more are not allowed", open)
	case a.Task != "":
		t := s.state.Task(a.Task)
		if t == nil {
			return fmt.Errorf("no task %s", a.Task)
		}
		a.TaskAct = t.Act
		if a.Event == session.AwaitLine && a.From == 0 {
			a.From = t.Position
		}
	}
	a.ID = s.newAwaitID(s.state.NextAwait)
	b.Await = a
	return nil
}

// admitDrop takes back what is awaited.
func (s *admission) admitDrop(b *session.AwaitDropped) error {
	if a := s.state.Await(b.ID); a == nil {
		return fmt.Errorf("no await %s is open", b.ID)
	}
	b.Reason = session.DropUser
	b.Text = []byte(fmt.Sprintf("[%s] was cancelled by the user: you will not be told.", b.ID))
	return nil
}
