package session

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/perdure/perdure/store"
)

// What becomes of the files when an act that may have changed them was interrupted, and nobody can tell what it did.
const (
	OnLostTell     = "tell"     // they stay, and the person is told how to take it back; so does the empty text
	OnLostAsk      = "ask"      // the turn halts until a person has said it; where nothing can be taken back, they are told
	OnLostKeep     = "keep"     // they stay
	OnLostRollback = "rollback" // they become what they were before the act, before anything else begins
)

// CheckOnLost says why a text is none of them.
func CheckOnLost(how string) error {
	switch how {
	case OnLostTell, OnLostAsk, OnLostKeep, OnLostRollback:
		return nil
	}
	return fmt.Errorf("%q: use tell, ask, rollback or keep", how)
}

// What a person answers who is asked about a lost act, in the order in which it is offered.
const (
	LostKeep     = "keep what it changed"
	LostTakeBack = "take it back"
	LostStop     = "keep it, and stop the turn"
)

// LostQuestion asks what becomes of what a lost act may have changed. What it was about is quoted: it may be any text.
func LostQuestion(c *Call) *Question {
	about := ""
	if c.About != "" {
		about = " " + strconv.Quote(c.About)
	}
	return &Question{
		Question: fmt.Sprintf("What becomes of the files? A call was interrupted, nobody can tell how far it came, and files have changed: %s%s", c.Tool, about),
		Options:  []string{LostKeep, LostTakeBack, LostStop},
	}
}

// Lost reports whether the call is a lost act about whose files a person is asked: only one of the question's options is
// an answer, and it is for nobody else to give one.
func (c *Call) Lost() bool { return c.State == ActBlocked && c.Question != nil && !c.Settled() }

// ask has a lost act wait for a person.
func (c *Call) ask(b *ToolUnknown) {
	q := *b.Asks
	c.State, c.Reason, c.Question, c.Before = ActBlocked, b.Reason, &q, b.Before
}

// lose settles a call of which nobody can tell what it did.
func (c *Call) lose(reason string) {
	c.Outcome, c.Reason, c.State = OutcomeUnknown, cmp.Or(reason, c.Reason), ActFailed
	c.Before, c.Input = store.Digest{}, nil
}

// unasked settles the turn's lost acts as they are: nobody is asked about their files any more.
func (t *Turn) unasked() {
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Lost() {
			c.Question = nil
			c.lose("")
		}
	}
}
