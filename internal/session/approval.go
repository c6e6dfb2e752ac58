package session

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/store"
)

// Approval is a human's say on one act, bound to exactly what was shown.
type Approval struct {
	Asked    int64        `json:"asked"` // ms UTC
	Rule     string       `json:"rule,omitempty"`
	Reason   string       `json:"reason,omitempty"`
	Offer    string       `json:"offer,omitempty"` // rule that scope "session" would grant
	Bound    store.Digest `json:"bound"`
	Pre      store.Digest `json:"pre,omitzero"`
	Cwd      string       `json:"cwd"`
	Target   string       `json:"target,omitempty"` // resolved path that the call works on; "": no path, or of an older version
	Always   bool         `json:"always,omitempty"` // it asks in every mode and whatever is granted
	Answered bool         `json:"answered"`
	Allow    bool         `json:"allow"`
	Message  string       `json:"message,omitempty"` // the human's words to the model
	By       store.Actor  `json:"by"`
	Spent    bool         `json:"spent"` // used by a decision; an approval is used once
}

// Covers reports whether the approval allows a call as it is decided now: the same call, on the same file content, at
// the same place behind all links. A call that by now asks in every mode is covered only if that was shown.
func (a *Approval) Covers(d Decision) bool {
	return a != nil && a.Answered && a.Allow && !a.Spent &&
		a.Bound == d.Bound && a.Pre == d.Pre && a.Target == d.Target && (a.Always || !d.Always)
}

// unspend makes an approval usable again, because nothing came of its use.
func (a *Approval) unspend() {
	if a != nil {
		a.Spent = false
	}
}

// bindingDigest hashes length-prefixed fields, so that no two different calls share a binding.
func bindingDigest(tool string, input []byte, cwd string, env command.EnvDelta) store.Digest {
	var buf []byte
	field := func(b []byte) {
		buf = binary.AppendUvarint(buf, uint64(len(b)))
		buf = append(buf, b...)
	}
	field([]byte(tool))
	field(input)
	field([]byte(cwd))
	for _, k := range slices.Sorted(maps.Keys(env)) {
		field([]byte(k))
		if v := env[k]; v != nil {
			buf = append(buf, 1)
			field([]byte(*v))
		} else {
			buf = append(buf, 0)
		}
	}
	return store.Sum(buf)
}

// ApprovalRequested asks a human about one act.
type ApprovalRequested struct {
	headOnly
	Act    string       `json:"act"`
	Effect Effect       `json:"effect"`
	Rule   string       `json:"rule,omitempty"`
	Reason string       `json:"reason,omitempty"`
	Offer  string       `json:"offer,omitempty"`
	Bound  store.Digest `json:"bound"`
	Pre    store.Digest `json:"pre,omitzero"`
	Cwd    string       `json:"cwd"`
	// Target is the path that the call works on, behind all links; Always: it asks in every mode and whatever is
	// granted. Who answers is shown both, and the answer holds for nothing else.
	Target string `json:"target,omitempty"`
	Always bool   `json:"always,omitempty"`
}

func (b *ApprovalRequested) summary() string { return b.Act + "  " + b.Reason }

func (b *ApprovalRequested) apply(s *State, e store.Event) {
	c := s.open(e, b.Act)
	if c == nil {
		return
	}
	c.Effect, c.State, c.Decision = b.Effect, ActAwaitingApproval, nil
	c.Approval = &Approval{
		Asked: e.Time, Rule: b.Rule, Reason: b.Reason, Offer: b.Offer, Bound: b.Bound, Pre: b.Pre, Cwd: b.Cwd,
		Target: b.Target, Always: b.Always,
	}
}

// ApprovalAnswered is the human's answer. Scope "session" also grants Grant for the session's life.
type ApprovalAnswered struct {
	headOnly
	Act     string       `json:"act"`
	Allow   bool         `json:"allow"`
	Bound   store.Digest `json:"bound"`        // of what the human saw
	Pre     store.Digest `json:"pre,omitzero"` // of the edited file that the human saw; zero is not compared
	Grant   string       `json:"grant,omitempty"`
	Message string       `json:"message,omitempty"`
}

func (b *ApprovalAnswered) summary() string { return b.Act + "  " + verdict(b.Allow) }

func (b *ApprovalAnswered) apply(s *State, e store.Event) {
	c := s.Call(b.Act)
	if c == nil || !c.Asks() || c.Approval.Bound != b.Bound {
		s.fault(e, "act %s does not wait for this answer", b.Act)
		return
	}
	a := c.Approval
	if !b.Pre.IsZero() && a.Pre != b.Pre {
		s.fault(e, "act %s asks about another content of the file", b.Act)
		return
	}
	a.Answered, a.Allow, a.Message, a.By = true, b.Allow, b.Message, e.Actor
	c.State = ActPlanned
	if b.Allow && b.Grant != "" {
		s.grant(e, b.Grant, "session", a.Cwd)
		s.redecide()
	}
}

// Asks reports whether a human's answer about the call is awaited, or would still be taken.
func (c *Call) Asks() bool {
	return (c.State == ActAwaitingApproval || c.State == ActPlanned) && !c.Settled() && c.Approval != nil && !c.Approval.Answered
}

// QuestionAsked puts a question to a human; the act waits for the answer.
type QuestionAsked struct {
	headOnly
	Act      string   `json:"act"`
	Question Question `json:"question"`
}

func (b *QuestionAsked) summary() string { return b.Act + "  " + b.Question.Question }

func (b *QuestionAsked) apply(s *State, e store.Event) {
	if c := s.open(e, b.Act); c != nil {
		q := b.Question
		c.Effect, c.Question, c.State = EffectQuestion, &q, ActWaitingExternal
	}
}

// QuestionAnswered is the human's answer.
type QuestionAnswered struct {
	headOnly
	Act  string `json:"act"`
	Text string `json:"text"`
}

func (b *QuestionAnswered) summary() string { return b.Act + "  " + b.Text }

func (b *QuestionAnswered) apply(s *State, e store.Event) {
	c := s.Call(b.Act)
	if c == nil || c.State != ActWaitingExternal || c.Question == nil || c.Answer != nil {
		s.fault(e, "act %s does not wait for an answer", b.Act)
		return
	}
	text := b.Text
	c.Answer = &text
}
