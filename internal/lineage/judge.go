package lineage

import (
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
)

// Judge says of claims whether they were brought into a session by others, or first said in it. It is told what was said
// and brought in the order of the log.
type Judge struct {
	said, brought *Matcher
	derived       []bool
}

// NewJudge takes the claims.
func NewJudge(claims []string) *Judge {
	return &Judge{said: NewMatcher(claims), brought: NewMatcher(claims), derived: make([]bool, len(claims))}
}

// Said is a text of the agent or of the user.
func (j *Judge) Said(text string) { j.said.Feed(text) }

// Brought is a text of somebody else.
func (j *Judge) Brought(text string) {
	j.brought.Feed(text)
	for i := range j.derived {
		if j.brought.Repeats(i) && !j.said.Repeats(i) {
			j.derived[i] = true
		}
	}
}

// Derived reports whether a claim repeats what was brought before anybody said it here.
func (j *Judge) Derived(i int) bool { return j.derived[i] }

// Settled tells that nothing that comes can change whether a claim is derived.
func (j *Judge) Settled(i int) bool { return j.derived[i] || j.said.Repeats(i) }

// Inputs are what a reply's calls hand to tools: the agent's words as well.
func Inputs(body session.Body) (out []string) {
	b, ok := body.(*session.ModelResponded)
	if !ok {
		return nil
	}
	for _, bl := range b.Blocks {
		if bl.Type == model.BlockToolUse {
			out = append(out, string(bl.Input))
		}
	}
	return out
}
