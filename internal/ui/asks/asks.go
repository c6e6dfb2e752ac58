// Package asks is the list of what waits for a person, made to be embedded in a terminal program: approvals of tool calls
// and questions of one session, or of many, and what else only a person can mend.
//
// # The model
//
// A [Model] is a component for bubbletea: its owner passes messages to Update and shows View. It knows nothing of sessions
// and stores; what it shows comes from a [Source], and so does what an answer does. Everything that a Source gives is taken
// for hostile and shown as text.
//
// An answer may let a command run, so no key gives one by accident. The list never takes the keys by itself: without the
// focus it is a strip of at most three lines. With it, a key answers only what was on the screen as a whole before, and
// after which no key came for a moment ([Config.Quiet]): whatever somebody was typing when it opened answers nothing. Enter
// alone answers nothing either, unless an answer was selected. The answer is bound to what was shown: where that changes
// under the eyes it has to be drawn anew, and where somebody else answered, that is told.
//
// # The caller's duties
//
// Call Init once, SetSize whenever the room changes (Height says how much it wants), and Update for every message that is
// not the owner's own; keys only while Focused, pastes while Typing. Call Focus for the key that opens it, and Refresh
// whenever something may have begun or ceased to wait. A page (Config.Page) has the focus always, and looks by itself.
package asks

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/list"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Kind is what is waited for.
type Kind int

// The kinds.
const (
	Approval Kind = iota // yes or no to a call
	Question             // words, or one of some options
	Notice               // something that no answer helps: a failed model call, a limit
)

// Ask is something that waits for a person.
type Ask struct {
	ID      string // of all that waits
	Bound   string // what the answer is bound to: another one is another ask
	Kind    Kind
	Session string // its id
	Title   string // of its session, for a list of several
	Line    string // all of it on one line
	Asked   time.Time
}

// Look is what a row is, for its colour.
type Look int

// The looks.
const (
	Text    Look = iota // of the call or the question
	About               // where, why
	Step                // a simple command of the one above
	Added               // a line that a file gets
	Removed             // a line that a file loses
	Aside               // said about the rows beside it
	Warning
)

// Row is a line of what is shown of an ask.
type Row struct {
	Look Look
	Text string
}

// Rule is a permission rule with what it allows besides, in words.
type Rule struct{ Text, Allows string }

// Detail is what a person has to know of an ask before answering.
type Detail struct {
	Rows    []Row
	Options []string // of a question
	Closed  bool     // only an option is an answer to the question
	Exact   Rule     // the narrowest rule that covers an approval; no text: there is none, and Exact.Allows may say why
	Wider   Rule     // the next wider one; no text: there is none
	Project string   // whose sessions a rule for the project holds in; empty: there can be none
	Hint    string   // the command that helps: of a notice, and of an approval that cannot be shown whole
	Part    bool     // something of it is left out of the rows, so that it cannot be allowed here
}

// Verdict is what a person says to an approval. The zero value is no.
type Verdict int

// The verdicts.
const (
	No Verdict = iota
	Once
	ForSession
	ForProject
	ForUser
)

// Answer is what a person answers.
type Answer struct {
	Verdict Verdict // to an approval
	Wider   bool    // its rule is the wider one
	Text    string  // to a question; words to the model with a no
}

// Gone is the error about an ask that does not wait any more as it was shown. How says what became of it.
type Gone struct{ How string }

func (g *Gone) Error() string { return g.How }

// Source is where asks come from, and what takes the answers. Its methods may block; they are called from other goroutines,
// List one at a time. Errors are shown.
type Source interface {
	// List returns what waits, the oldest first.
	List(ctx context.Context) ([]Ask, error)
	// Show returns what is to be shown of an ask. *Gone: it does not wait any more, or is another one.
	Show(ctx context.Context, a Ask) (Detail, error)
	// Answer brings an answer. *Gone: somebody answered first, or it is another call by now; nothing was answered then.
	Answer(ctx context.Context, a Ask, ans Answer) error
	// Became says in words what became of an ask that does not wait any more, as in "allowed by anna"; empty: nobody knows.
	Became(ctx context.Context, a Ask) string
}

// Config is what a list is made of.
type Config struct {
	Source Source           // required
	Now    func() time.Time // required
	Style  theme.Styles
	Key    string        // that opens it, for the strip; empty: ctrl+o
	Quiet  time.Duration // without a key before keys answer; 0: 425 ms
	Page   bool          // it has the focus always, and shows the list of several sessions
	Every  time.Duration // how often a page looks by itself; 0: a second
	Open   func(session string) tea.Cmd
}

const (
	defaultQuiet = 425 * time.Millisecond
	defaultEvery = time.Second
	maxLooking   = 50 // a page looks again after this many times what a look takes at the earliest
	noteFor      = 8 * time.Second
)

// Model is a list of asks. It is used from one goroutine, as bubbletea does.
type Model struct {
	cfg           Config
	later         func(time.Duration, tea.Msg) tea.Cmd // sends a message after a time
	width, height int
	focused       bool

	asks    []Ask
	listed  bool // at least once
	listing bool // somebody looks
	again   bool // and it is wanted once more after that
	beat    int  // the only beat that counts
	failure string

	shown  shown
	typing bool // an answer in words
	input  input
	choice int // of the answers that can be selected; -1: none
	busy   map[string]bool
	note   note
	help   bool
	list   list.List[string] // of a page
}

type note struct {
	text  string
	wrong bool
	until time.Time
}

// New makes a list. It looks when Init's command runs.
func New(cfg Config) *Model {
	if cfg.Key == "" {
		cfg.Key = "ctrl+o"
	}
	if cfg.Quiet == 0 {
		cfg.Quiet = defaultQuiet
	}
	if cfg.Every == 0 {
		cfg.Every = defaultEvery
	}
	return &Model{
		cfg: cfg, focused: cfg.Page, choice: -1, busy: map[string]bool{},
		later: func(d time.Duration, msg tea.Msg) tea.Cmd {
			return tea.Tick(d, func(time.Time) tea.Msg { return msg })
		},
	}
}

// Init starts looking.
func (m *Model) Init() tea.Cmd { return m.Refresh() }

// SetSize gives the list its room.
func (m *Model) SetSize(width, height int) {
	m.width, m.height = max(width, 0), max(height, 0)
	if s := &m.shown; s.width != m.bodyWidth() {
		whole := s.whole()
		if s.wrap(m.bodyWidth()); whole {
			s.seen = len(s.lines)
		}
	}
}

// bodyWidth is how many cells a row of an ask has.
func (m *Model) bodyWidth() int { return max(m.width-2, 0) }

// Waiting is how many approvals and questions wait.
func (m *Model) Waiting() int {
	n := 0
	for _, a := range m.asks {
		if a.Kind != Notice {
			n++
		}
	}
	return n
}

// Focused reports whether keys are for the list.
func (m *Model) Focused() bool { return m.focused }

// Focus gives the list the keys, if there is anything to answer. What they answer has to be drawn first.
func (m *Model) Focus() tea.Cmd {
	if m.focused || len(m.asks) == 0 {
		return nil
	}
	m.focused, m.shown, m.note = true, shown{}, note{}
	return tea.Batch(m.sel(0), m.Refresh())
}

// Blur takes the keys away; nothing is answered.
func (m *Model) Blur() {
	if m.cfg.Page {
		return
	}
	m.focused, m.typing, m.help, m.choice = false, false, false, -1
	m.shown = shown{}
}

// Typing reports whether letters are text now.
func (m *Model) Typing() bool { return m.focused && m.typing }

// Back takes one step back inside of the list, and reports whether there was one.
func (m *Model) Back() bool {
	switch {
	case m.typing:
		m.typing = false
	case m.help:
		m.help = false
	case m.choice >= 0:
		m.choice = -1
	default:
		return false
	}
	return true
}
