package session

// Forked is the first event of a fork. The child's state begins as the parent's at that position; see [Fork].
type Forked struct {
	headOnly
	Parent Position `json:"parent"`
	ID     string   `json:"id"`
	Owner  string   `json:"owner"`
	Title  string   `json:"title,omitempty"`
}

// Kind is session.forked.
func (*Forked) Kind() Kind { return KindForked }

// Fork returns the state that a child forked at the parent's state begins with: its log is still empty. The parent's
// state is copied shallowly where it is immutable and must not be used to go on.
func Fork(parent *State, child string) *State {
	s := *parent
	s.ID = child
	s.Base, s.Context.Ranges = parent.Conversation(), nil
	s.Parent = &Position{Session: parent.ID, Seq: parent.Head.Seq, Hash: parent.Head.Hash}
	s.Head = Head{Hash: parent.Head.Hash}
	return &s
}

func (b *Forked) apply(s *State, e Event) {
	if e.Seq != 1 || s.Parent == nil {
		s.fault(e, "a fork begins with this event, over its parent's state")
		return
	}
	s.Owner, s.Created, s.Lifecycle = b.Owner, e.Time, LifecycleOpen
	if b.Title != "" {
		s.Title = b.Title
	}
	s.Epoch, s.Holder, s.Queue, s.Usage, s.Spent, s.Unpriced = 0, Holder{}, nil, nil, 0, 0
	s.Settled, s.Permissions.Decisions, s.Timers, s.Dropped = nil, nil, nil, Dropped{}
	if s.Config.Mode == "bypassPermissions" {
		s.Config.Mode = "default"
	}
	for i := range s.Tasks {
		if s.Tasks[i].Session == "" {
			s.Tasks[i].Session = s.Parent.Session
		}
	}
	s.forkTurn()
}

// forkTurn makes the inherited open turn the child's own: what the parent has started is left to it, everything
// else begins anew.
func (s *State) forkTurn() {
	if s.Turn == nil {
		return
	}
	t := *s.Turn
	t.Usage, t.Cost, t.StepBase, t.Cancel = Usage{}, 0, t.Step, nil
	t.Calls = append([]Call{}, t.Calls...)
	if t.Model != nil && t.Model.Status != CallResponded {
		t.Model = nil
		t.Step--
		t.StepBase = t.Step
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		switch c.State {
		case ActExecuting, ActBlocked:
			c.Left = true
		case ActPlanned, ActAwaitingApproval, ActWaitingExternal:
			c.State, c.Decision, c.Approval, c.Question, c.Answer = ActPlanned, nil, nil, nil, nil
		case ActDone, ActFailed:
		}
	}
	s.Turn = &t
}
