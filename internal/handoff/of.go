package handoff

import (
	"time"

	"github.com/perdure/perdure/internal/session"
)

// Input is what a document is made of.
type Input struct {
	State     *session.State
	Words     Words     // of a model; may be empty
	First     string    // the user's first message
	Newest    string    // the user's newest message
	LastReply string    // text of the newest reply
	Errors    []string  // what failed tool calls said, the oldest first
	Git       Git       // of the session's directory
	Written   time.Time // in the zone that the reader lives in
}

// Git is what is known of the repository around a session's directory; the zero value: there is none.
type Git struct {
	Branch  string // empty: no branch is checked out
	Commit  string // of HEAD, 40 or 64 digits; empty: none yet
	Commits []Commit
	More    int // commits beyond Commits
}

// Commit is one that was made while the session lived.
type Commit struct{ Hash, Subject string }

// Of makes the document of a session.
func Of(in Input) Document {
	return Document{Session: in.State.ID, Seq: in.State.Head.Seq, Written: in.Written}
}
