package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/session"
	"github.com/perdure/perdure/store"
)

// inboxPage bounds how many items are drained in one transaction.
const inboxPage = 100

// Drain moves accepted inbox items into the log, in order: each becomes exactly one event, its own kind's or
// inbox.refused, in one transaction with the mark.
func (s *Session) Drain(ctx context.Context) error {
	for {
		items, err := s.eng.cfg.Store.Pending(ctx, s.state.ID, s.mark, inboxPage)
		if err != nil {
			return fmt.Errorf("session %s: inbox: %w", s.state.ID, err)
		}
		if len(items) == 0 {
			return nil
		}
		for _, it := range items {
			body := s.admit(it)
			if err := s.appendAs(ctx, []session.Actor{it.Actor}, []session.Body{body}, it.N); err != nil {
				return err
			}
		}
	}
}

// admit gives the event that an item becomes.
func (s *Session) admit(it store.Item) session.Body {
	refuse := func(format string, args ...any) session.Body {
		return &session.InboxRefused{Key: it.Key, Item: it.Kind, Reason: fmt.Sprintf(format, args...)}
	}
	body, err := session.Decode(session.Event{Kind: it.Kind, Codec: session.Codec1, Body: it.Body})
	if err != nil {
		return refuse("not understood: %v", err)
	}
	switch b := body.(type) {
	case *session.MessageReceived:
		if !s.state.Accepts() {
			return refuse("too many messages wait for their turn")
		}
		b.Key = it.Key
		for i := range b.Content {
			if b.Content[i].Type == session.BlockText {
				b.Content[i].Data = s.eng.cfg.Redact(b.Content[i].Data)
			}
		}
		return b
	case *session.ApprovalAnswered:
		c := s.state.Call(b.Act)
		if c == nil || c.State != session.ActAwaitingApproval {
			return refuse("no approval is asked for act %s", b.Act)
		}
		if c.Approval.Bound != b.Bound {
			return refuse("the call changed since it was shown: look at it again")
		}
		b.Act = c.ID
		return b
	case *session.QuestionAnswered:
		c := s.state.Call(b.Act)
		if c == nil || c.State != session.ActWaitingExternal || c.Answer != nil {
			return refuse("no question is asked by act %s", b.Act)
		}
		b.Act = c.ID
		return b
	case *session.TaskSignalled:
		t := s.state.Task(b.Task)
		switch {
		case t == nil:
			return refuse("no task %s", b.Task)
		case t.Session != "":
			return refuse("task %s belongs to session %s", b.Task, t.Session)
		case t.Status != session.CommandRunning:
			return refuse("task %s has ended", b.Task)
		}
		return b
	case *session.StateSet:
		if !b.Delete && !s.state.ScratchFits(b.Key, b.Value) {
			return refuse("scratch state would be over 1 MiB")
		}
		return b
	case *session.FactAdded:
		if !s.state.FactFits() {
			return refuse("the session holds as many facts as it can: 4,096")
		}
		return b
	case *session.CancelRequested:
		if s.state.Turn == nil {
			return refuse("no turn is open")
		}
		return b
	case *session.Labelled, *session.LifecycleSet, *session.PermissionGranted, *session.PermissionRevoked, *session.App:
		return body
	}
	return refuse("%s cannot be sent to a session", it.Kind)
}

// ErrRefused tells that a session refused an inbox item; its text says why.
var ErrRefused = errors.New("refused by the session")

// NewItem makes an inbox item of a body. An empty key gives a new one.
func (e *Engine) NewItem(key string, actor session.Actor, body session.Body) (store.Item, error) {
	b, err := session.Encode(body)
	if err != nil {
		return store.Item{}, err
	}
	if key == "" {
		key = e.cfg.NewID()
	}
	return store.Item{
		Key: key, Kind: body.Kind(), Actor: actor, Time: e.cfg.Now().UnixMilli(), Body: b,
		Digest: session.Sum(append([]byte(body.Kind()+"\x00"), b...)),
	}, nil
}
