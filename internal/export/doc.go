// Package export writes a session down as one document that can be kept, sent and read without Perdure.
//
// The model. A [Reader] is given the events of a session in order, those of the sessions that it was forked from first,
// and folds them into a [Document]: turns of entries, in the order in which things happened, with what each call was
// asked, allowed, and gave. A document is written as Markdown or as one page of HTML. [LineOf] gives an event as a
// line of JSON instead, which needs no document.
//
// Whatever a model, a tool or a person wrote is data: it stands in the document as text, is never part of its structure,
// and loads nothing. The page has no script and refers to nothing outside of itself but links that a reader may follow.
//
// The caller's duties. A document holds the texts of the whole conversation in memory, and of its images at most 16 MiB.
// Texts pass the caller's [Hide] as they are read; what it finds is counted, and nothing else looks for secrets.
package export

import (
	"time"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/view"
)

// Version is that of the format of lines, which their first line names.
const Version = 1

// The formats of a document.
const (
	Markdown = "md"
	HTML     = "html"
	Lines    = "jsonl"
)

// Formats lists them.
func Formats() []string { return []string{Markdown, HTML, Lines} }

// Hide replaces the secrets in a text and counts them. nil hides nothing.
type Hide func(text string) (string, int)

// Document is a session as it is written down. All its texts are hidden already; none is safe to show as it is.
type Document struct {
	Session  *view.Session
	Turns    []*Turn
	Hidden   int            // secrets that were replaced
	Redacted bool           // they were looked for
	Written  time.Time      // in the zone in which all times are shown
	Program  string         // what wrote it, as in perdure 1.2
	Queued   []*Entry       // messages that wait for their turn
	zone     *time.Location // of Written
}

// Turn is what happened from one prompt to the next. N is 0 for what came before the first one.
type Turn struct {
	N       int
	Started int64  // ms UTC
	Ended   int64  // 0: it is open
	Stop    string // why it ended
	Message string // what went wrong, if something did
	Models  []string
	Usage   model.Usage
	Cost    int64 // nano-USD of the calls whose price is known
	Unknown bool  // the price of a call is not known
	Steps   int
	Calls   int
	Entries []*Entry
}

// Kind says what an entry is.
type Kind int

// The kinds of entries.
const (
	Prompt   Kind = iota // words of a person, Markdown
	Reply                // words of the model, Markdown
	Thinking             // of the model, text
	ToolCall             // see Entry.Call
	Given                // a text that the session was given: Label names it
	Note                 // what was told to the model beside the prompt, text
	Event                // something that happened: Label says what, Text has more of it, if there is more
)

// Entry is one thing in a turn.
type Entry struct {
	Kind  Kind
	Time  int64 // ms UTC
	By    string
	Label string
	Text  string
	Parts []Part
	Call  *Call
}

// Part is an image or a document in a message or a result.
type Part struct {
	Media string
	Size  int
	Data  []byte // of an image that may be shown; nil: it is named only
}

// Field is an argument of a call that is shown as the text that it is: a command, and what has several lines.
type Field struct{ Name, Text string }

// Call is a tool call with what became of it.
type Call struct {
	ID, Tool, About string
	Input           string // JSON, laid out, without what stands in Long; empty: there is no more
	Long            []Field
	Asked, Answered string // the decision of a person, in words
	Task            string // it went on in the background under this id
	Started, Ended  int64  // ms UTC; 0: not known
	Outcome, Reason string // empty: it has none yet
	ExitCode        *int
	Result          string
	Parts           []Part
}
