package session

import (
	"cmp"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Call is one tool call of the newest step, with everything that decides what happens to it next.
type Call struct {
	ID       string    `json:"id"` // act id of the newest attempt
	Base     string    `json:"base"`
	Attempt  int       `json:"attempt"`
	ToolUse  string    `json:"tool_use"` // the provider's id, data
	Tool     string    `json:"tool"`
	Input    []byte    `json:"input"` // verbatim
	Effect   Effect    `json:"effect,omitempty"`
	State    ActState  `json:"state"`
	Decision *Decision `json:"decision,omitempty"`
	Approval *Approval `json:"approval,omitempty"`
	Question *Question `json:"question,omitempty"`
	Answer   *string   `json:"answer,omitempty"`
	Start    *Start    `json:"start,omitempty"`
	Left     bool      `json:"left,omitempty"` // started by the session this one was forked from
	Outcome  Outcome   `json:"outcome,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	About    string    `json:"about,omitempty"` // what it may change, once it has begun; see [Act]

	fit bool // the decision's binding was compared since the working directory or environment last changed; only a cache
}

// Decision is what the permission rules said about a call.
type Decision struct {
	Allow  bool         `json:"allow"`
	Rule   string       `json:"rule,omitempty"` // the rule that decided; empty when the mode did
	Reason string       `json:"reason,omitempty"`
	Bound  store.Digest `json:"bound"`        // of arguments, cwd and environment; see [State.Binding]
	Pre    store.Digest `json:"pre,omitzero"` // an edit's file as it was
	Epoch  int64        `json:"epoch"`
	Human  bool         `json:"human,omitempty"`  // an approval was used
	Target string       `json:"target,omitempty"` // resolved path that was decided about; the act works on no other
	Always bool         `json:"always,omitempty"` // it asks in every mode and whatever is granted
}

func (d *Decision) summary() string {
	by := cmp.Or(d.Rule, "mode")
	if d.Human {
		by = "approval"
	}
	return verdict(d.Allow) + " by " + by
}

func verdict(allow bool) string {
	if allow {
		return "allow"
	}
	return "deny"
}

// Start is an act's intent.
type Start struct {
	Epoch      int64  `json:"epoch"`
	BootID     string `json:"boot_id"`
	Time       int64  `json:"time"`
	Edit       *Edit  `json:"edit,omitempty"`
	Background bool   `json:"background,omitempty"`
	Command    string `json:"command,omitempty"`
	Task       string `json:"task,omitempty"`  // the name a background command gets
	About      string `json:"about,omitempty"` // what a call of a tool with an effect outside is about
	// It began in the foreground; see [ToolDetached].
	Moved bool `json:"moved,omitempty"`
	TaskSettings
}

// about is what the act may change: its command or path, else what its input says, as the log keeps it.
func (s *Start) about() string {
	if s.Edit != nil {
		return s.Edit.Path
	}
	return cmp.Or(s.Command, s.About)
}

// Act is the call as it is remembered.
func (c *Call) Act() Act {
	return Act{ID: c.ID, Tool: c.Tool, Effect: c.Effect, State: c.State, Outcome: c.Outcome, Reason: c.Reason, About: c.About}
}

// Settled reports whether the call has its outcome.
func (c *Call) Settled() bool { return c.Outcome != "" }

// Binding is what a decision about a call is bound to: its tool and arguments, the working directory and the
// environment. If any of them changes, the call is decided again.
func (s *State) Binding(c *Call) store.Digest {
	return bindingDigest(c.Tool, c.Input, s.Cwd, s.Env)
}

// Call finds an outstanding or settled call of the open turn's newest step by its act id, whatever the attempt.
func (s *State) Call(id string) *Call {
	if s.Turn == nil {
		return nil
	}
	base := BaseOf(id)
	for i := range s.Turn.Calls {
		if s.Turn.Calls[i].Base == base {
			return &s.Turn.Calls[i]
		}
	}
	return nil
}

// open finds the call that an event is about; it must not be settled, and the attempt must be the newest.
func (s *State) open(e store.Event, id string) *Call {
	c := s.Call(id)
	switch {
	case c == nil:
		s.fault(e, "act %s is not of the open step", id)
		return nil
	case c.ID != id:
		s.fault(e, "act %s is no longer the newest attempt", id)
		return nil
	case c.Settled():
		s.fault(e, "act %s is settled", id)
		return nil
	}
	return c
}

// ToolDecided records what the rules, or a human through an approval, said about a call.
type ToolDecided struct {
	headOnly
	Act      string   `json:"act"`
	Effect   Effect   `json:"effect"`
	Decision Decision `json:"decision"`
}

func (b *ToolDecided) summary() string { return b.Act + "  " + b.Decision.summary() }

func (b *ToolDecided) apply(s *State, e store.Event) {
	c := s.open(e, b.Act)
	if c == nil {
		return
	}
	d := b.Decision
	c.Effect, c.Decision, c.State = b.Effect, &d, ActPlanned
	c.fit = d.Bound == s.Binding(c)
	verdict := "deny"
	if d.Allow {
		verdict = "allow"
	}
	var dropped int
	s.Permissions.Decisions, dropped = remember(s.Permissions.Decisions, DecisionRecord{
		Act: b.Act, Tool: c.Tool, Effect: verdict, Rule: d.Rule, Human: d.Human, Seq: e.Seq, Time: e.Time,
	})
	s.Dropped.Decisions += int64(dropped)
}

// ToolStarted is the intent of an act: durable before its effect begins.
type ToolStarted struct {
	headOnly
	Act   string `json:"act"`
	Start Start  `json:"start"`
}

func (b *ToolStarted) summary() string { return b.Act + "  " + b.Start.Command }

func (b *ToolStarted) apply(s *State, e store.Event) {
	c := s.open(e, b.Act)
	if c == nil {
		return
	}
	switch {
	case c.State == ActExecuting:
		s.fault(e, "act %s is started already", b.Act)
		return
	case c.Decision == nil || !c.Decision.Allow:
		s.fault(e, "act %s was not allowed", b.Act)
	case c.Decision.Bound != s.Binding(c):
		s.fault(e, "act %s was decided for other arguments, directory or environment", b.Act)
	case c.Decision.Human && !c.Approval.Covers(*c.Decision):
		s.fault(e, "act %s has no unspent approval", b.Act)
	}
	if b.Start.Epoch != s.Epoch {
		s.fault(e, "act %s is of epoch %d, the session is in %d", b.Act, b.Start.Epoch, s.Epoch)
	}
	st := b.Start
	c.Start, c.State = &st, ActExecuting
	if c.Effect.Changes() {
		c.About = CutEnd(st.about(), maxActAbout)
		s.mayChangeFiles(e)
	}
	if c.Decision != nil && c.Decision.Human && c.Approval != nil {
		c.Approval.Spent = true
	}
	if st.Task != "" {
		s.NextTask++
	}
}

// ToolFinished is an act's outcome, with what the model is told.
type ToolFinished struct {
	Act       string           `json:"act"`
	Outcome   Outcome          `json:"outcome"`
	Collected bool             `json:"collected,omitempty"` // found out after an interruption
	Reason    string           `json:"reason,omitempty"`
	ExitCode  *int             `json:"exit_code,omitempty"`
	Cwd       string           `json:"cwd,omitempty"`    // the session's from here on; empty leaves it
	Env       command.EnvDelta `json:"env,omitzero"`     // the whole delta from here on; nil leaves it
	Output    string           `json:"output,omitempty"` // file that keeps the complete output
	Content   []model.Part     `json:"content"`
}

func (b *ToolFinished) summary() string {
	return b.Act + "  " + string(b.Outcome) + "  " + model.Text(b.Content)
}

func (b *ToolFinished) show(m map[string]any) { viewParts(m, b.Content) }

func (b *ToolFinished) parts() []*[]byte { return partData(b.Content) }

func (b *ToolFinished) apply(s *State, e store.Event) {
	c := s.open(e, b.Act)
	if c == nil {
		return
	}
	s.hasChangedFiles(c, e)
	c.Outcome, c.Reason, c.State = b.Outcome, b.Reason, ActDone
	if b.Outcome != OutcomeOK {
		c.State = ActFailed
	}
	if b.Cwd != "" {
		s.Cwd = b.Cwd
	}
	if b.Env != nil {
		s.Env = b.Env
	}
	if b.Cwd != "" || b.Env != nil {
		for i := range s.Turn.Calls {
			s.Turn.Calls[i].fit = false
		}
	}
	s.Context.Fresh += ContentSize(b.Content)
	c.Input = nil
}

// ToolVoid says that a started act provably had no effect. The next attempt is decided again, and a human's approval
// is unspent again.
type ToolVoid struct {
	headOnly
	Act    string `json:"act"`
	Reason string `json:"reason"`
}

func (b *ToolVoid) summary() string { return b.Act + "  " + b.Reason }

func (b *ToolVoid) apply(s *State, e store.Event) {
	c := s.open(e, b.Act)
	if c == nil {
		return
	}
	if c.State != ActExecuting {
		s.fault(e, "act %s was not started", b.Act)
		return
	}
	c.Attempt++
	c.ID, c.State, c.Decision, c.Start = AttemptID(c.Base, c.Attempt), ActPlanned, nil, nil
	c.Approval.unspend()
}

// ToolUnknown says that an act may or may not have had its effect, and that nothing can tell. The model is told so.
type ToolUnknown struct {
	Act     string       `json:"act"`
	Reason  string       `json:"reason"`
	Content []model.Part `json:"content"`
}

func (b *ToolUnknown) summary() string { return b.Act + "  " + b.Reason }

func (b *ToolUnknown) show(m map[string]any) { viewParts(m, b.Content) }

func (b *ToolUnknown) parts() []*[]byte { return partData(b.Content) }

func (b *ToolUnknown) apply(s *State, e store.Event) {
	c := s.open(e, b.Act)
	if c == nil {
		return
	}
	s.hasChangedFiles(c, e)
	c.Outcome, c.Reason, c.State = OutcomeUnknown, b.Reason, ActFailed
	s.Context.Fresh += ContentSize(b.Content)
	c.Input = nil
}
