// Package board is the page that shows all sessions of a home by what they need: those that wait for a person, those that
// work, those that have ended with something to read, and the others.
//
// # The model
//
// A [Model] is a component for bubbletea: its owner passes messages to Update and shows View. What it shows comes from a
// [Source], which is asked about once a second whether anything has changed; the newest words of the selected session come
// as they are said. What leads out of the page is sent as [OpenMsg] and [AnswerMsg]: the owner opens what they name. What a
// Source gives is taken for hostile and shown as text.
//
// # The caller's duties
//
// Call Init once, SetSize whenever the room changes, Update for every message that is not the owner's own, and Close when
// the page goes away: it ends the look at the selected session.
package board

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/list"
	"github.com/perdure/perdure/internal/ui/markdown"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Group is what a session needs.
type Group int

// The groups, in the order in which they are shown.
const (
	Waits Group = iota // for a person: an answer, or something to mend
	Works              // or sleeps until something comes by itself
	News               // has ended its turn, and nobody has looked since
	Rests              // nothing is to be done
	groupsN
)

// Words of the groups.
func (g Group) String() string {
	return [...]string{Waits: "waits for you", Works: "working", News: "ended with news", Rests: "idle"}[g]
}

// Row is one session.
type Row struct {
	ID         string
	Title      string
	Dir        string // as a person writes it
	Group      Group
	Status     string    // what it does, in a word
	Since      time.Time // of the newest that happened in it
	About      string    // what waits, or why it cannot go on; empty: nothing to say
	Cost       string
	Background bool // a supervisor runs it
	Answerable bool // something in it can be answered
}

// Peek is the newest of one session.
type Peek struct {
	Asked string   // what a person said last
	Said  string   // what the model said last, or says just now
	Doing []string // calls that run, and what waits
	Live  bool     // it says more
}

// Source is where a board gets sessions from and what it asks things of. Its methods may block; they are called from other
// goroutines, List one at a time.
type Source interface {
	// List returns all sessions, in any order; changed false: as before, and rows are left out.
	List(ctx context.Context) (rows []Row, changed bool, err error)
	// Peek shows the newest of a session, and what comes, until ctx ends or an error. See may block for a moment.
	Peek(ctx context.Context, id string, see func(Peek)) error
	// Start lets a prompt run in the background, and returns the session's id.
	Start(ctx context.Context, prompt string) (string, error)
	// Pause lets a session start nothing new, Close declares it done. Both end what runs it in the background.
	Pause(ctx context.Context, id string) error
	Close(ctx context.Context, id string) error
}

// What a board asks of its owner.
type (
	// OpenMsg asks to open a session.
	OpenMsg struct{ ID string }
	// AnswerMsg asks to open what waits in a session.
	AnswerMsg struct{ ID string }
	// LeaveMsg says that a person is done with the page.
	LeaveMsg struct{}
)

// Config is what a board is made of.
type Config struct {
	Source Source           // required
	Now    func() time.Time // required
	Styles theme.Styles     // zero: no colours
	Every  time.Duration    // how often the source is asked; 0: a second
}

// Bounds of the board.
const (
	maxRests   = 50                     // sessions at rest that are shown
	settleFor  = 120 * time.Millisecond // a row that is selected for so long is looked into
	peekEvery  = 100 * time.Millisecond // how often words that come are drawn at most
	maxLooking = 50                     // a look that took a time is repeated after this many such times at the earliest
	maxPause   = 3 * time.Second        // and after this time at the latest
	noteFor    = 8 * time.Second
	maxText    = 4000 // characters of a prompt
)

// mode is what keys mean.
type mode int

const (
	browsing mode = iota
	filtering
	confirming
	writing // a prompt
)

// Model is a board. It is used from one goroutine, as bubbletea does.
type Model struct {
	cfg           Config
	later         func(time.Duration, tea.Msg) tea.Cmd // sends a message after a time
	width, height int
	said          *markdown.Renderer // draws what the model says

	rows    []Row  // as listed last
	lines   []line // what is shown of them
	counts  [groupsN]int
	listed  bool
	listing bool
	again   bool // a look is wanted once more
	beat    int  // the only beat that counts
	failure string
	list    list.List[string] // of the lines, by session

	peek  peeked
	mode  mode
	field list.Field // the filter or the prompt that is written
	words string     // filter
	sure  string     // the session whose end is asked about
	help  bool
	note  note
	busy  map[string]string // what is being done to a session
	owed  tea.Cmd           // of Back
}

// line is a row of the list, or the heading of a group.
type line struct {
	head  Group
	row   *Row // nil: a heading
	extra int  // sessions of the group that are not shown, at its end
}

// note is a line on the screen that goes away by itself.
type note struct {
	text  string
	wrong bool
	until time.Time
}

// New makes a board.
func New(cfg Config) *Model {
	if cfg.Every <= 0 {
		cfg.Every = time.Second
	}
	later := func(d time.Duration, msg tea.Msg) tea.Cmd { return tea.Tick(d, func(time.Time) tea.Msg { return msg }) }
	return &Model{cfg: cfg, later: later, said: markdown.New(cfg.Styles), busy: map[string]string{}, peek: peeked{stop: func() {}}}
}

// Init begins to look.
func (m *Model) Init() tea.Cmd { return m.look() }

// Close ends the look at the selected session.
func (m *Model) Close() { m.peek.stop() }

// SetSize gives the board its room, in cells.
func (m *Model) SetSize(width, height int) {
	m.width, m.height = width, height
	m.list.Room(m.layout().rows)
}

// Typing tells that keys are the page's own now, so that an owner's own must wait: letters are text, or esc takes a
// filter back.
func (m *Model) Typing() bool { return m.mode != browsing || m.words != "" }

// Selected is the session that is selected; ok is false when there is none.
func (m *Model) Selected() (r Row, ok bool) {
	if at := m.list.At(); at >= 0 {
		return *m.lines[at].row, true
	}
	return r, false
}

// selected is the id of the selected session; empty: there is none.
func (m *Model) selected() string {
	id, _ := m.list.Selected()
	return id
}

// Back steps back inside of the page, and reports whether there was something to step back from. What is to be looked at
// then is asked for by the next Update.
func (m *Model) Back() bool {
	switch {
	case m.mode == confirming:
		m.tell(false, "nothing was done")
		m.mode = browsing
	case m.mode != browsing:
		if m.mode == filtering {
			m.owed = m.filter("")
		}
		m.mode = browsing
	case m.help:
		m.help = false
	case m.words != "":
		m.owed = m.filter("")
	default:
		return false
	}
	return true
}

// tell shows a line for a while.
func (m *Model) tell(wrong bool, text string) {
	m.note = note{text: text, wrong: wrong, until: m.cfg.Now().Add(noteFor)}
}
