package session

import (
	"fmt"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Forked is the first event of a fork. The child's state begins as the parent's at that position; see [Fork].
type Forked struct {
	headOnly
	Parent store.Position `json:"parent"`
	ID     string         `json:"id"`
	Owner  string         `json:"owner"`
	Title  string         `json:"title,omitempty"`
}

func (b *Forked) summary() string {
	return fmt.Sprintf("from %s at event %d", b.Parent.Session, b.Parent.Seq)
}

// Fork returns the state that a child forked at the parent's state begins with: its log is still empty. The parent's
// state is left as it is and may go on.
func Fork(parent *State, child string) *State {
	s := *parent
	s.ID = child
	s.Base, s.Context.Ranges = parent.Conversation(), nil
	s.Parent = &store.Position{Session: parent.ID, Seq: parent.Head.Seq, Hash: parent.Head.Hash}
	s.Head = store.Head{Hash: parent.Head.Hash}
	return s.own()
}

func (b *Forked) apply(s *State, e store.Event) {
	if e.Seq != 1 || s.Parent == nil {
		s.fault(e, "a fork begins with this event, over its parent's state")
		return
	}
	s.Owner, s.Created, s.Lifecycle = b.Owner, e.Time, LifecycleOpen
	if b.Title != "" {
		s.Title = b.Title
	}
	s.Worked, s.Arrived = 0, Arrived{}
	s.Epoch, s.Holder, s.Queue, s.Usage, s.Spent, s.Unpriced = 0, Holder{}, nil, nil, 0, 0
	s.Compaction = nil // the parent's to carry out
	s.Handoff = nil    // it is in the parent's log
	s.ownGiven()
	s.Settled, s.Permissions.Decisions, s.Timers, s.Faults = nil, nil, nil, nil
	s.Dropped.Settled, s.Dropped.Decisions, s.Dropped.Faults = 0, 0, 0
	if s.Config.Mode == modeBypass {
		s.Config.Mode = modeDefault
	}
	// What is ordered by seq stays in order: the parent's seqs count down from 0.
	for i := range s.Tasks {
		if t := &s.Tasks[i]; t.Session == "" {
			t.Session = s.Parent.Session
		}
		s.Tasks[i].EndSeq -= s.Parent.Seq
		s.Tasks[i].Inputs = nil // the parent's to carry out
	}
	for path, file := range s.Files {
		file.Seq -= s.Parent.Seq
		s.Files[path] = file
	}
	s.fileOrder = nil
	s.inheritAwaits()
	s.Workspace.inherit(s.Parent.Seq)
	s.forkTurn()
}

// forkTurn makes the inherited open turn the child's own: what the parent has started is left to it, everything
// else begins anew.
func (s *State) forkTurn() {
	if s.Turn == nil {
		return
	}
	t := s.Turn
	t.Usage, t.Cost, t.Unpriced, t.StepBase = model.Usage{}, 0, 0, t.Step
	if t.Model != nil && t.Model.Status != CallResponded {
		t.Model = nil
		t.Step--
		t.StepBase = t.Step
	}
	t.unasked()
	for i := range t.Calls {
		c := &t.Calls[i]
		switch c.State {
		case ActExecuting, ActBlocked:
			c.Left = true
		case ActPlanned, ActAwaitingApproval, ActWaitingExternal:
			c.State, c.Decision, c.Approval, c.Question, c.Answer = ActPlanned, nil, nil, nil, nil
			c.Attempt, c.ID, c.Start = 1, AttemptID(c.Base, 1), nil
		case ActDone, ActFailed:
		}
	}
}
