// Package handoff is the document that one session leaves to the next: what is to be achieved, what is done, what does
// not work, what failed and must not be tried again, what was decided, and the one next step. It is pure: no file, no
// clock.
//
// [Of] makes a [Document]. Where the work stands (tasks, files, branch, commits, failures) comes from the log; words come
// from a model where there are some, see [ParseWords]; what nobody wrote down is said to be missing. [Render] writes it as
// Markdown of at most [MaxBytes], a briefing and no log. [Parse] reads that back, and a file that a person wrote.
// [Check] tells what of it is no longer so, [Mark] gives a reader the text with that said in it.
//
// The text of a document is data: written by models, users and tools, and read by models. Nothing that is quoted in it
// can end a section, begin one or pass for the header, and nothing in it controls a terminal.
package handoff

import "time"

// MaxBytes bounds a written document: 1,500 tokens of about 4 bytes.
const MaxBytes = 6000

// Document is a handoff. Every text in it is one line.
type Document struct {
	Session   string    `json:"session_id"` // empty: of nobody that we know
	Seq       int64     `json:"seq"`        // of the session's log
	Written   time.Time `json:"written,omitzero"`
	Title     string    `json:"title,omitempty"`
	Directory string    `json:"directory,omitempty"` // absolute
	Branch    string    `json:"branch,omitempty"`
	Commit    string    `json:"commit,omitempty"` // 7 digits

	Goal             string   `json:"goal"`
	Done             []string `json:"done"`
	NotWorking       []string `json:"not_working"`
	FailedApproaches []string `json:"failed_approaches"` // the newest first
	Decisions        []string `json:"decisions"`
	NextStep         string   `json:"next_step"`
	State            State    `json:"state,omitzero"`
	// Other is what a hand-written document has beside that: text before the first section, and sections of other names.
	Other []Section `json:"other,omitempty"`
}

// State is where the work stands outside of the conversation.
type State struct {
	Running    []string `json:"running,omitempty"` // tasks: id and command
	Ended      []string `json:"ended,omitempty"`   // tasks: id, command and how
	InProgress []string `json:"in_progress,omitempty"`
	Found      []string `json:"found,omitempty"`
	Commits    []string `json:"commits,omitempty"` // made in the session: 7 digits and the subject, the newest first
	Created    []string `json:"created,omitempty"` // absolute paths, the newest first
	Changed    []string `json:"changed,omitempty"`
	LastReply  string   `json:"last_reply,omitempty"` // only where no model wrote words for a handoff
	Missing    []string `json:"missing,omitempty"`    // sentences
}

// Section is one that has no field of its own.
type Section struct {
	Name string `json:"name"` // empty: before the first one
	Text string `json:"text"`
}
