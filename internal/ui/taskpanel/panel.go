// Package taskpanel is a live panel of background tasks, made to be embedded in a terminal program: a list of tasks with
// what they use, the newest output of the selected one, and what a person may want to do about it.
//
// # The model
//
// A [Model] is a component for bubbletea: its owner passes messages to Update and shows View. It knows nothing of
// sessions, stores and shims; what it shows comes from a [Source], and so does what it can do. Everything that a Source
// gives is taken for hostile, since commands print and models write what they like: it is shown as text, and no byte of
// it that a terminal obeys gets through.
//
// # The caller's duties
//
// Call Init once, SetSize whenever the room changes, and Update for every message that is not the owner's own. A panel
// looks at its Source about once a second, and less often when a look takes long, so that looking never costs more than
// a few percent of a processor.
package taskpanel

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/list"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Key names a task: ids are unique within a session only.
type Key struct{ Session, ID string }

// State is how a task stands, as far as its colour and its place in the list are concerned.
type State int

// The states of a task. Those up to Straggling have processes.
const (
	Running    State = iota
	Straggling       // the command has ended and left processes
	Succeeded
	Failed
	Killed
	Lost
)

// Live reports whether a process of the task is left.
func (s State) Live() bool { return s <= Straggling }

// Task is one line of the panel.
type Task struct {
	Key
	Name       string
	Command    string
	Dir        string
	State      State
	Status     string // State in words
	Attempt    int    // from 1
	PID        int
	Processes  int // 0 when none is left, or nobody knows
	CPU        time.Duration
	RSS        int64 // bytes; 0 when nobody knows
	Ports      []int
	Printed    int64 // bytes, all that were ever printed
	Unread     int64 // bytes of them that whoever looks has not seen
	Started    time.Time
	Ended      time.Time // zero while it runs
	Incomplete string    // why not all is known; empty: it is
}

// Tail is the newest output of a task.
type Tail struct {
	Bytes []byte
	From  int64 // absolute offset of Bytes; what was printed before it is elsewhere
	End   int64 // absolute offset behind Bytes
}

// Source is where a panel gets tasks from and what it asks things of. Its methods may block; they are called from other
// goroutines, List and Tail one at a time each. Errors are shown.
type Source interface {
	// List returns all tasks, in any order.
	List(ctx context.Context) ([]Task, error)
	// Tail returns up to size bytes from the end of a task's output. It is called for what is on the screen, so a
	// source that keeps a reader's place moves it. have is the End that the panel shows; when that is still the end,
	// only End needs to be set.
	Tail(ctx context.Context, k Key, have int64, size int) (Tail, error)
	// Kill ends a task with everything it started, and returns when that is gone.
	Kill(ctx context.Context, k Key) error
	// Restart runs a task again under its id, ending it first if it runs.
	Restart(ctx context.Context, k Key) error
	// Hints are command lines for a task: how to get into it, how to read all of its output.
	Hints(t Task) []string
}

// Config is what a panel is made of.
type Config struct {
	Source Source           // required
	Title  string           // of whose tasks; empty: nothing is said
	Every  time.Duration    // how often the list is looked at; 0: a second
	Now    func() time.Time // required
}

// Bounds of the panel.
const (
	defaultEvery = time.Second
	tailEvery    = 400 * time.Millisecond
	tailSize     = 64 << 10 // bytes of output that are looked at
	maxLooking   = 50       // a look that took a time is repeated after this many such times at the earliest
	noteFor      = 8 * time.Second
)

// mode is what keys mean.
type mode int

const (
	browsing mode = iota
	filtering
	confirming
)

// Model is a panel. It is used from one goroutine, as bubbletea does.
type Model struct {
	cfg           Config
	later         func(time.Duration, tea.Msg) tea.Cmd // sends a message after a time
	style         theme.Styles
	width, height int

	tasks   []Task // as listed last
	rows    []Task // those that are shown, in order
	list    list.List[Key]
	chosen  bool // somebody moved to one, so it stays selected when others come before it
	listed  bool // at least once
	listing bool // somebody looks at the list
	again   bool // and it is wanted once more after that
	beat    int  // the only beat that counts
	failure string
	percent percents

	tail   tail
	mode   mode
	ask    question
	filter list.Field
	live   bool // only tasks that have processes
	large  bool // the output has all the room
	help   bool
	note   note
	busy   map[Key]string // what is being done to a task
}

// question is what a person is asked before something is done to a task.
type question struct {
	text string
	key  Key
	verb string // how it is while it is done
	done string // what it is then
	do   func(context.Context, Key) error
}

// note is a line on the screen that goes away by itself.
type note struct {
	text  string
	wrong bool
	until time.Time
}

// New makes a panel.
func New(cfg Config) *Model {
	if cfg.Every <= 0 {
		cfg.Every = defaultEvery
	}
	later := func(d time.Duration, msg tea.Msg) tea.Cmd { return tea.Tick(d, func(time.Time) tea.Msg { return msg }) }
	return &Model{cfg: cfg, later: later, style: theme.Colours(), busy: map[Key]string{}, percent: percents{}, tail: tail{wrap: true}}
}

// Init begins to look.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.look(), m.tailLater()) }

// SetSize gives the panel its room, in cells.
func (m *Model) SetSize(width, height int) {
	m.width, m.height = width, height
	m.keepVisible()
}

// Typing tells that letters are text now, so that an owner's own single-letter keys must wait.
func (m *Model) Typing() bool { return m.mode != browsing }

// Back steps back inside of the panel, and reports whether there was something to step back from.
func (m *Model) Back() bool {
	switch {
	case m.mode == confirming:
		m.mode = browsing
		m.tell(false, "nothing was done")
	case m.mode == filtering:
		m.mode = browsing
		m.setFilter("")
	case m.help:
		m.help = false
	case m.large:
		m.large = false
	case m.filter.Text != "":
		m.setFilter("")
	case m.tail.back > 0:
		m.tail.back = 0
	default:
		return false
	}
	m.keepVisible()
	return true
}

// Selected is the task that is selected; ok is false when there is none.
func (m *Model) Selected() (t Task, ok bool) {
	if at := m.list.At(); at >= 0 {
		return m.rows[at], true
	}
	return t, false
}

func (m *Model) isSelected(t Task) bool {
	k, ok := m.list.Selected()
	return ok && k == t.Key
}
