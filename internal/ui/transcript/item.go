// Package transcript draws a conversation: what a person and a model said, what was called and what came of it.
//
// # The model
//
// A [Model] holds items in their order and draws those that are visible, and no others: what a frame or a key costs
// does not grow with the conversation. Lines are made once for each item and width, and again when the item changes.
// The view follows the newest item until somebody scrolls; then it stays where it is, whatever comes.
//
// # The caller's duties
//
// Items come by [Model.Put], which replaces one of the same ID, and by [Model.Say] while a model speaks. Older ones
// come by [Model.Prepend]. What is held has a bound: [Model.Forget] lets go of the oldest items, and whoever can read
// them again brings them back by Prepend. Every text is taken for hostile: no byte of it that a terminal obeys gets
// through.
package transcript

import "time"

// Kind says what an item is.
type Kind int

// The kinds of items.
const (
	Person   Kind = iota // the words of a human
	Text                 // what the model says, as Markdown
	Thinking             // what it thinks
	Tool                 // a call of a tool
	Note                 // what happened besides
	Trouble              // what went wrong and how to mend it
)

// Item is one piece of a conversation.
type Item struct {
	ID   string
	Kind Kind
	Text string
	More bool     // more is said of it
	With []string // of a person's words: what came with them, in words, such as images
	Call Call
	// At is how far what it is made of goes in the log that it was read from: whoever reads that as far as there gets
	// the item as it is. 0: it is of another log, or of none.
	At int64
}

// size is about how many bytes of memory it takes.
func (it *Item) size() int {
	const itself = 512
	n := itself + len(it.ID) + len(it.Text) + len(it.Call.About) + len(it.Call.Outcome) + len(it.Call.Output)
	for _, w := range it.With {
		n += len(w)
	}
	for _, d := range it.Call.Diff {
		n += len(d.Name) + len(d.Old) + len(d.New)
	}
	return n
}

// State is how a call stands, as far as its sign and colour are concerned.
type State int

// The states of a call.
const (
	Planned State = iota
	Waiting       // for a human
	Running
	Background // it goes on by itself
	Done
	Failed
	Unknown // nobody knows what came of it
)

// Live reports whether more is to come of the call.
func (s State) Live() bool { return s <= Background }

// Call is a tool call.
type Call struct {
	Act     string
	Session string // in whose log it is
	Run     string // the attempt whose outcome Output is; empty: none has ended
	Name    string
	About   string // a command, a path, a pattern
	State   State
	Outcome string // in a few words
	Started time.Time
	Took    time.Duration // once it has ended
	Output  string        // what it printed or said, or the end of it
	Omitted int64         // bytes before Output
	Diff    []Diff        // of an edit
}

// Diff is a change of one file.
type Diff struct {
	Name, Old, New string
	Part           bool // Old and New are some text of the file, at a place that nobody knows
}
