package engine

import (
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Bounds of what an inbox may add to the state; the fold holds the same ones and would note a fault.
const (
	maxLabels = 256
	maxFocus  = 2000 // bytes
	maxGrants = 4096
)

// admit gives the event that an item becomes: its own, or a refusal. Whatever is admitted folds without a fault.
func (s *admission) admit(it store.Item) session.Body {
	body, err := session.Decode(store.Event{Kind: it.Kind, Codec: session.Codec1, Body: it.Body})
	if err == nil {
		err = s.admissible(body, it.Key)
	} else {
		err = fmt.Errorf("not understood: %w", err)
	}
	if err != nil {
		return &session.InboxRefused{Key: it.Key, Item: it.Kind, Reason: err.Error()}
	}
	return body
}

// ErrClosed says that a session was closed or archived: it takes no more turns.
var ErrClosed = errors.New("it takes no more turns")

// Takes is nil if a session of this lifecycle takes such a body from outside, else an error that wraps ErrClosed. One
// that is closed takes only what ends or describes it.
func Takes(l session.Lifecycle, body session.Body) error {
	if !l.Over() {
		return nil
	}
	switch body.(type) {
	case *session.MessageReceived, *session.ApprovalAnswered, *session.QuestionAnswered, *session.AwaitSet,
		*session.TaskRequested, *session.ToolDetached, *session.PermissionGranted, *session.CompactRequested:
		return fmt.Errorf("the session is %s: %w", l, ErrClosed)
	default:
	}
	return nil
}

// admissible tells why a body cannot be taken now, and completes one that can.
func (s *admission) admissible(body session.Body, key string) error {
	if err := Takes(s.state.Lifecycle, body); err != nil {
		return err
	}
	switch b := body.(type) {
	case *session.MessageReceived:
		return s.admitMessage(b, key)
	case *session.ApprovalAnswered:
		return s.admitApproval(b)
	case *session.QuestionAnswered:
		return s.admitAnswer(b)
	case *session.TaskSignalled:
		return s.admitSignal(b)
	case *session.TaskRestartSet:
		return s.admitRestart(b)
	case *session.AwaitSet:
		return s.admitAwait(b, key)
	case *session.AwaitDropped:
		return s.admitDrop(b)
	case *session.TaskRequested:
		return s.admitTask(b, key)
	case *session.TaskInput:
		return s.admitInput(b, key)
	case *session.ToolDetached:
		return s.admitDetach(b)
	case *session.StateSet:
		if !b.Delete && !s.state.ScratchFits(b.Key, b.Value) {
			return fmt.Errorf("scratch state would be over 1 MiB")
		}
	case *session.FactAdded:
		return s.admitStatement(b)
	case *session.PlanEdited:
		return s.admitPlan(b)
	case *session.CompactRequested:
		if s.state.Context.Replies == 0 {
			return fmt.Errorf("there is nothing to compact: the model has not answered yet")
		}
		b.Focus = session.CutEnd(string(s.eng.cfg.Secrets.Replace([]byte(b.Focus))), maxFocus)
	case *session.HandoffRequested:
		if s.state.Context.Replies == 0 {
			return fmt.Errorf("there is nothing to hand off: the model has not answered yet")
		}
	case *session.MessageWithdrawn:
		return s.admitWithdrawal(b)
	case *session.Configured:
		return s.admitConfigured(b)
	case *session.CancelRequested:
		if t := s.state.Turn; b.Turn == 0 && s.state.Compaction != nil {
			break
		} else if t == nil || b.Turn != 0 && b.Turn != t.N {
			return fmt.Errorf("no such turn is open")
		}
	case *session.CheckpointRequested, *session.RestoreRequested, *session.ArtifactAdded:
		return s.admitFiles(body, key)
	case *session.Labelled:
		return s.admitLabels(b)
	case *session.LifecycleSet:
		if !b.To.Known() {
			return fmt.Errorf("there is no lifecycle %q", b.To)
		}
	case *session.PermissionGranted:
		return s.admitGrant(b.Rule)
	case *session.App:
		return session.Sound(b)
	case *session.PermissionRevoked:
	default:
		return fmt.Errorf("%s cannot be sent to a session", session.KindOf(body))
	}
	return nil
}

func (s *admission) admitStatement(b *session.FactAdded) error {
	if !s.state.FactFits() {
		return fmt.Errorf("the session holds as many facts as it can: 4,096")
	}
	return session.Sound(b)
}

func (s *admission) admitMessage(b *session.MessageReceived, key string) error {
	if !s.state.Accepts() {
		return fmt.Errorf("too many messages wait for their turn")
	}
	if session.Blank(b.Content) {
		return fmt.Errorf("a message without words")
	}
	b.Key, b.Changed = key, nil
	for i := range b.Content {
		switch p := &b.Content[i]; p.Type {
		case model.BlockText:
			p.Data = s.eng.cfg.Secrets.Replace(p.Data)
		case model.BlockImage, model.BlockDocument:
		default:
			return fmt.Errorf("a message cannot hold a part of type %q", p.Type)
		}
	}
	return nil
}

func (s *admission) admitAnswer(b *session.QuestionAnswered) error {
	c := s.state.Call(b.Act)
	if c != nil && c.Lost() {
		return s.admitLost(c, b)
	}
	if c == nil || c.State != session.ActWaitingExternal || c.Answer != nil {
		return fmt.Errorf("no question is asked by act %s", b.Act)
	}
	b.Act, b.Text = c.ID, string(s.eng.cfg.Secrets.Replace([]byte(b.Text)))
	return nil
}

func (s *admission) admitApproval(b *session.ApprovalAnswered) error {
	c := s.state.Call(b.Act)
	switch {
	case c == nil || !c.Asks():
		return fmt.Errorf("no approval is asked for act %s", b.Act)
	case c.Approval.Bound != b.Bound, !b.Pre.IsZero() && c.Approval.Pre != b.Pre:
		return fmt.Errorf("the call changed since it was shown: look at it again")
	}
	b.Act, b.Message = c.ID, string(s.eng.cfg.Secrets.Replace([]byte(b.Message)))
	if !b.Allow || b.Grant == "" {
		return nil
	}
	return s.admitGrant(b.Grant)
}

func (s *admission) admitGrant(rule string) error {
	if _, err := permission.ParseRule(permission.Allow, rule, permission.SourceSession); err != nil {
		return err
	}
	if len(s.state.Permissions.Grants) >= maxGrants {
		return fmt.Errorf("the session holds as many grants as it can: %d", maxGrants)
	}
	return nil
}

func (s *admission) admitSignal(b *session.TaskSignalled) error {
	t, err := s.ownTask(b.Task)
	if err != nil {
		return err
	}
	if t.Status != command.Running && !t.Due { // one that is about to run again can still be kept from it
		return fmt.Errorf("task %s has ended", b.Task)
	}
	if b.By == "" {
		b.By = command.ByUser
	}
	return nil
}

func (s *admission) admitLabels(b *session.Labelled) error {
	n := len(s.state.Labels)
	for k, v := range b.Labels {
		if _, known := s.state.Labels[k]; v != "" && !known {
			n++ // what the same item removes makes no room for it
		}
	}
	if n > maxLabels || len(b.Labels) > maxLabels {
		return fmt.Errorf("a session has at most %d labels", maxLabels)
	}
	return nil
}
