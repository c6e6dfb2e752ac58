// Package picker is the page on which a person chooses the session to go on with: a list with search, and a preview of
// the selected one. Letters are the words of a search at once; what else can be done has keys that are no letters.
//
// # The model
//
// A [Model] is a component for bubbletea: its owner passes messages to Update and shows View. It knows nothing of homes
// and sessions: what it shows comes from a [Source], page by page as it is scrolled to, and all it does is to send a
// [ChosenMsg]. It opens nothing and asks no model. What a Source gives is taken for hostile and shown as text.
//
// # The caller's duties
//
// Call Init once, SetSize whenever the room changes, and Update for every message that is not the owner's own. One look at
// the Source is under way at a time, and its context ends with the question that it answers.
package picker

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/list"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Row is one session of the list.
type Row struct {
	ID      string
	Title   string // its name, or the first words of its first prompt
	First   string // the first words of its first prompt, if Title is a name
	Found   string // words of its conversation in which a search found it; empty: the rest of the row has them
	Dir     string // as a person writes it
	Branch  string // that is checked out there now; empty: none, or unknown
	Updated time.Time
	State   State
	Status  string // State in words
	Cost    string // as in $1.20; empty: unknown
	Tasks   int    // commands that run
	Holder  string // the process that has it, as in "pid 12 on host"; empty: nobody has
}

// State is how a session stands, as far as its colour is concerned.
type State int

// The states of a session.
const (
	Idle State = iota
	Working
	Waiting // for a human
	Broken  // a model call failed, a limit was met, or its process was killed
	Over    // paused, closed, archived
)

// Page is a part of the list.
type Page struct {
	Rows []Row
	Next string // where the rest begins; empty: there is none
}

// Query says which sessions are asked for.
type Query struct {
	Words string // all of them are in the row; empty: every session
	All   bool   // of every directory; else of this one
}

// Preview is what is shown of the selected session.
type Preview struct {
	First   string   // what it was asked first
	Asked   string   // what it was asked last, if that is something else
	Last    string   // what the model said last
	Plan    []string // steps, with a mark each
	Waits   []string // what waits for a human
	Tasks   []string // commands that run
	Next    string   // what the next request costs, in words
	Nothing string   // why nothing can be shown; empty: it can
}

// Source is where a picker gets sessions from. Its methods may block; they are called from other goroutines.
type Source interface {
	// List returns up to n sessions, the newest first, behind a place that an earlier page named. It may return fewer,
	// and a Next all the same: the rest is asked for then. With words it may return more: those that a search finds
	// early are what it can put on top.
	List(ctx context.Context, q Query, after string, n int) (Page, error)
	// Preview looks at one session.
	Preview(ctx context.Context, id string) (Preview, error)
}

// What is to be done with the chosen session.
type What int

// The ways to go on.
const (
	Leave    What = iota // with none of them
	Continue             // in it
	Fork                 // in a copy of its own
	Handoff              // in a new one, from the handoff that it left
	Attach               // look on, and answer, while another process runs it
	TakeOver             // run it here, although another process has it; a person has said so
	Return               // where the picker was opened from
)

// ChosenMsg is all that a picker sends.
type ChosenMsg struct {
	ID   string // empty with Leave and Return
	What What
}

// Config is what a picker is made of.
type Config struct {
	Return bool             // it was opened from a session, to which esc goes back
	Source Source           // required
	Now    func() time.Time // required
	Styles theme.Styles     // of the page; zero: no colours
	Here   string           // this directory, as a person writes it; empty: sessions of all directories are shown
	Words  string           // that are looked for at first, in all directories
	Left   string           // the session that it was opened from: the next one is selected at first; empty: none
	Note   string           // why what was chosen before was not done; it is told until a key is pressed
}

// Bounds of the picker.
const (
	pageSize    = 100  // rows that are asked for at once
	ahead       = 40   // rows that are to be known below the selected one
	maxRows     = 5000 // rows that are kept; a search finds the others
	maxPreviews = 32   // that are kept
)

// Model is a picker. It is used from one goroutine, as bubbletea does.
type Model struct {
	cfg           Config
	width, height int

	query   Query
	field   list.Field // the words of it as they are typed
	rows    []Row      // that were found, in order
	list    list.List[string]
	next    string // where the rest begins
	asked   int    // the only question whose answers count
	looking bool   // a look at the list is under way
	stop    context.CancelFunc
	known   bool // the list was seen once
	placed  bool // the first row was selected
	failure string

	previews map[string]Preview
	asking   string // the session whose preview is looked at; empty: none
	sure     bool   // a takeover is asked about
	note     string
	help     bool
	owed     tea.Cmd // of Back
}

// New makes a picker.
func New(cfg Config) *Model {
	m := &Model{cfg: cfg, query: Query{All: cfg.Here == ""}, previews: map[string]Preview{}, stop: func() {}}
	if m.field.Paste(cfg.Words) {
		m.query = Query{Words: m.field.Text, All: true}
	}
	return m
}

// Init begins to look.
func (m *Model) Init() tea.Cmd { return m.ask() }

// SetSize gives the picker its room, in cells.
func (m *Model) SetSize(width, height int) {
	m.width, m.height = width, height
	m.list.Room(m.layout().rows)
}

// Typing tells that letters are text: always, so that an owner's own keys must wait. Who is done sends a [ChosenMsg].
func (m *Model) Typing() bool { return true }

// Back steps back inside of the page, and reports whether there was something to step back from. What is to be looked at
// then is asked for by the next Update.
func (m *Model) Back() bool {
	switch {
	case m.sure:
		m.sure, m.note = false, "nothing was done"
	case m.help:
		m.help = false
	case m.field.Text != "":
		m.field.Text = ""
		m.owed = m.search()
	default:
		return false
	}
	return true
}

// Selected is the session that is selected; ok is false when there is none.
func (m *Model) Selected() (r Row, ok bool) {
	if at := m.list.At(); at >= 0 {
		return m.rows[at], true
	}
	return r, false
}

// selected is the id of the selected session; empty: there is none.
func (m *Model) selected() string {
	id, _ := m.list.Selected()
	return id
}
