package learn

import (
	"context"

	"github.com/perdure/perdure/internal/knowledge"
)

// Tag says of which kind a finding is.
type Tag string

// The tags.
const (
	Decision   Tag = "DECISION"   // a choice, with its reason
	Gotcha     Tag = "GOTCHA"     // unexpected behaviour, an edge case
	Reuse      Tag = "REUSE"      // a pattern worth remembering
	Correction Tag = "CORRECTION" // the user corrected the approach
)

// Topic is where in an index findings of that kind stand.
func (t Tag) Topic() string {
	switch t {
	case Decision:
		return "Decisions"
	case Gotcha:
		return "Gotchas"
	case Reuse:
		return "Patterns"
	case Correction:
		return "Corrections"
	}
	return ""
}

// Found is one finding.
type Found struct {
	Tag     Tag
	Text    string // as a fact
	Reason  string
	Source  knowledge.Source // the least trusted of those who said it
	Session string
	Seq     int64
	Left    string // why it is not worth proposing; empty: it is

	claims []string // what is compared with what others said
}

// Propose puts findings into the inbox of a project, and tells how many wait there for the first time. What is known
// already confirms what says it; see [knowledge.Inbox.Propose].
func Propose(ctx context.Context, cfg knowledge.Config, found []Found) (n int, err error) {
	p, err := Offer(ctx, cfg, found)
	return len(p.New), err
}

// ProposeAll is Propose, and remembers with it up to where the session was read; see [knowledge.Inbox.Seen].
func ProposeAll(ctx context.Context, cfg knowledge.Config, found []Found, seen knowledge.Seen) error {
	m, err := knowledge.Open(cfg)
	if err != nil {
		return err
	}
	_, err = m.Inbox().ProposeAll(ctx, proposals(found), seen)
	return err
}

// Offer is Propose with all that came of it.
func Offer(ctx context.Context, cfg knowledge.Config, found []Found) (knowledge.Proposed, error) {
	m, err := knowledge.Open(cfg)
	if err != nil || len(found) == 0 {
		return knowledge.Proposed{}, err
	}
	return m.Inbox().Propose(ctx, proposals(found))
}

func proposals(found []Found) []knowledge.Proposal {
	list := make([]knowledge.Proposal, len(found))
	for i, f := range found {
		list[i] = knowledge.Proposal{
			Tag: string(f.Tag), Text: f.Text, Reason: f.Reason, Topic: f.Tag.Topic(), Source: f.Source,
			Session: f.Session, Seq: f.Seq, Why: f.Left,
		}
	}
	return list
}
