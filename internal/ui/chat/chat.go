// Package chat is the screen that a person sits at: the conversation, what waits, where they write, and one line about
// how it stands; other pages take the room of the conversation when they are asked for.
//
// # The model
//
// A [Model] is the program for bubbletea. What it shows comes in messages: [Changed] from whoever reads the session's log,
// and answers of its [Link], which is everything that can be done with a session. Neither Update nor View does anything
// that could wait; work goes into commands, and answers that are no longer wanted are dropped.
//
// Letters and Enter belong to the composer. What waits for an answer is in a list of its own, which a key opens; nothing
// that comes by itself ever takes the keys.
package chat

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/notify"
	"github.com/perdure/perdure/internal/ui/theme"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// Link is the session at the other end. Its methods may block and are called from other goroutines.
type Link interface {
	// Send brings a message under a key, which says by [Tells] what was run and is told by it. It is durable when Send
	// returns.
	Send(ctx context.Context, key string, d composer.Draft) error
	// Withdraw takes a message back that waits for its turn.
	Withdraw(ctx context.Context, key string) error
	// Cancel ends what the session is doing, and names the commands that were ended with it.
	Cancel(ctx context.Context) (stopped []string, err error)
	// Continue lets a turn go on that was left open, or that a limit or a failed call has halted, and opens a paused
	// session again; a goal, if it can only go on elsewhere.
	Continue(ctx context.Context) (*Goal, error)
	// Older returns the items before those that are known, oldest first; more is false when these are the first.
	Older(ctx context.Context) (items []transcript.Item, more bool, err error)
	// Again has Older return next what the log has as far as that event: it was let go of.
	Again(through int64)
	// Output returns the end of what a running call has printed, and how many bytes are left out before it.
	Output(ctx context.Context, act string) (text string, omitted int64, err error)
	// Whole returns all that a call has printed, or the end of it, and how many bytes are left out before that; empty:
	// the call itself has all there is.
	Whole(ctx context.Context, c transcript.Call) (text string, omitted int64, err error)
	// Mode sets how freely the session may act.
	Mode(ctx context.Context, mode string) error
	// Command runs a command that the screen does not know itself.
	Command(ctx context.Context, name, args string) (Reply, error)
	// Remember adds a line to the memory of the session's project.
	Remember(ctx context.Context, fact string) error
	// KeepDraft keeps what is written in case this process is killed; an empty draft is forgotten.
	KeepDraft(ctx context.Context, d composer.Draft) error
	// Shell starts the line of a shell for the person, as a task of the session, which is made if there is none.
	Shell(ctx context.Context, line string) (Ran, error)
	// ShellEnd waits until it has ended, and gives what it printed.
	ShellEnd(ctx context.Context, r Ran) (Ran, error)
	// ShellLeft is what was run here before and is in no message yet, the oldest first, at most maxRan.
	ShellLeft(ctx context.Context) ([]Ran, error)
	// ShellForget has what these printed go with no message.
	ShellForget(ctx context.Context, ran []Ran) error
	// Leaving says in words what goes on when this screen is left; empty: nothing does.
	Leaving(ctx context.Context) string
}

// Reply is what a command came to.
type Reply struct {
	Note  string // a line to show; empty: none
	Title string // of Text
	Text  string // to read, on a page of its own
	Go    *Goal  // leave for this
	// Choices are things to choose one of, on a page that Title heads.
	Choices []Choice
}

// Choice is something that can be chosen.
type Choice struct {
	Line, About string
	Command     string // what is done then, with Args; empty: Go is gone to, or Text is read
	Args        string
	Go          *Goal
	Text        string
}

// Goal is where a person goes from here.
type Goal struct {
	Session string // another session to open; empty: the picker
	Called  string // as a person calls it; empty: by its id
	Fork    bool   // as a fork of it
	Kin     bool   // it is a fork of the session that is left, with which its person goes on
	Share   bool   // which works in its directory
	On      bool   // and it goes on there, since its person has said so
	Fresh   bool   // a new session
	Silent  string // how the process that holds it does not answer; empty: it does, as far as one can tell
	Note    string // said where they arrive; empty: nothing
}

// Ran is a line of a shell that the person has run.
type Ran struct {
	Line    string
	Task    string // its name, as in bash_1
	Act     string // the base of its act
	Began   time.Time
	Took    time.Duration // 0: as long as it was waited for
	How     string        // it ended, as in "exit code 1"; empty: well
	Output  string        // the end of it
	Omitted int64         // bytes before that
}

// Queued is a message that waits for its turn.
type Queued struct {
	Key   string
	Text  string
	Draft *composer.Draft // as it was written, if it was written here
}

// Stand is how the session stands.
type Stand struct {
	ID, Title     string
	Activity      string // in one word
	Working       bool
	Since         time.Time // of the turn
	Halted        string    // why the open turn does not go on by itself; empty: it does, or there is none
	Failed        bool      // Halted says what went wrong
	Model         string
	Mode          string
	Branch        string
	Used, Window  int64 // tokens
	Cost          string
	Waits         int
	Tasks         int
	Other         string // who else holds the session; empty: this process
	Nobody        bool   // no process holds the session
	Over          bool   // it takes no more messages
	ContextNotice string // how near the window is to being full, when that matters
}

// Changed is what became of the session since the last time, in this order.
type Changed struct {
	Items  []transcript.Item
	Said   []Said
	Whole  []string // items of which no more is said
	Drop   []string // items that are no more
	Queue  []Queued
	Queues bool     // Queue is to be taken
	Told   []string // acts of what was run here and is in a message now
	Stand  *Stand
}

// Said is a piece of what the model says.
type Said struct {
	ID   string
	Kind transcript.Kind
	Text string
}

// Working tells how far work is that takes long, such as a restore of many files; an empty text: none is being done.
type Working struct{ Text string }

// Gone tells that the session is no longer with this screen: its text says why. The screen stays, to be read.
type Gone struct {
	Text  string
	Err   error
	Again bool // enter opens the session again
}

// Made tells that the session exists from now on.
type Made struct{ Asks *asks.Model }

// Page is something that takes the room of the conversation. Its methods are those of a component.
type Page interface {
	Init() tea.Cmd
	SetSize(width, height int)
	Update(msg tea.Msg) tea.Cmd
	View() string
	Typing() bool // letters are text now
}

// Command is one that can be typed after a slash.
type Command struct {
	Name  string
	Args  string // as in [NAME]
	Help  string // one line
	Alias []string
	// Page, if not nil, makes the page that the command opens.
	Page func(args string) Page
}

// Config is what a screen is made of.
type Config struct {
	Style      theme.Styles
	Link       Link
	Composer   *composer.Composer
	Transcript *transcript.Model
	Asks       *asks.Model      // nil: none are shown
	Notify     *notify.Notifier // nil: the terminal is told nothing
	Commands   []Command
	Queue      []Queued
	Stand      Stand
	Notes      []transcript.Item // shown at the end of what is known
	Draft      composer.Draft    // to begin with
	Send       bool              // it is sent at once; else it was written before
	Inline     bool              // no page of its own: what is finished goes into the scrollback
	More       bool              // there are older items
	Answer     bool              // what waits has the keys at first
	Rewind     bool              // esc twice, with nothing to cancel and nothing written, is /rewind
	Nested     bool              // esc, with nothing to cancel, goes back to where it was opened from
	On         bool              // what is halted goes on at once
	NewKey     func() string     // required
	Now        func() time.Time  // required
	Context    context.Context   //nolint:containedctx // commands run in it; it ends with the program
}

// Result is how a screen was left.
type Result struct {
	Goal *Goal
	Gone string // why the session is no longer here
	Err  error
	// Open says that the turn was under way in this process when the screen was left.
	Open bool
}

// Model is the screen.
type Model struct {
	cfg           Config
	ctx           context.Context //nolint:containedctx // see Config
	in            *composer.Composer
	talk          *transcript.Model
	width, height int

	stand   Stand
	working string // how far work is that takes long
	queue   []Queued
	mine    map[string]written // messages of this screen, by key
	taking  string             // key of the message that is taken back
	page    Page
	title   string // of the page
	note    note
	search  search
	leaving time.Time // when ctrl+c was pressed
	closed  time.Time // when what had the keys closed by itself
	warned  time.Time // that esc cancels what waits for an answer
	escaped time.Time // when esc was pressed with nothing to cancel
	// cancelling tells that a cancel is under way.
	cancelling bool
	left       bool // nothing more is drawn
	gone       *Gone
	older      loading
	frame      int // of what moves
	beats      beats
	rows       rows
	kept       kept
	ran        []Ran // goes with the next message
	done       bool  // the newest turn has ended, and nothing was begun since
	peeking    bool
	resizes    int
	// resizing tells that the size has not stayed as it is for long.
	resizing bool
	plain    bool // the terminal shows no colours, or shall not
	result   Result

	toPrint   []string // inline: lines that are not in the scrollback yet
	printing  bool
	leaveThen bool // inline: leave as soon as nothing is being printed and the size has settled
}

// loading is a look for older items.
type loading struct {
	busy, done bool
	find       string // words that are looked for in them
}

// note is a line that goes away by itself.
type note struct {
	text  string
	wrong bool
	until time.Time
}

const noteFor = 6 * time.Second

// New makes a screen.
func New(cfg Config) *Model {
	m := &Model{
		cfg: cfg, ctx: cfg.Context, in: cfg.Composer, talk: cfg.Transcript, stand: cfg.Stand, queue: cfg.Queue,
		mine: map[string]written{},
	}
	m.older.done = !cfg.More || cfg.Inline // what is older would be printed after what is newer
	for _, it := range cfg.Notes {
		m.talk.Put(it)
	}
	return m
}

// Result is how it was left, once the program has ended.
func (m *Model) Result() Result {
	r := m.result
	r.Open = m.stand.Working && m.stand.Other == ""
	return r
}

// Init begins.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.in.Init(), m.beat(), m.shellLeft()}
	if m.cfg.Inline {
		cmds = append(cmds, tea.RequestTerminalVersion) // whoever draws needs to know how its lines are broken
	}
	if m.cfg.Asks != nil {
		cmds = append(cmds, m.cfg.Asks.Init())
	}
	if !m.cfg.Draft.Empty() {
		if m.cfg.Send {
			cmds = append(cmds, m.send(written{Draft: m.cfg.Draft}))
		} else {
			m.in.SetDraft(m.cfg.Draft)
			m.kept.some = true // from before
			m.tell(false, "what you had written is there again; ctrl+c clears it")
		}
	}
	if m.cfg.Nested {
		m.tell(false, "esc goes back, as long as nothing runs")
	}
	if m.cfg.On {
		m.closed = m.cfg.Now() // the page that led here
		cmds = append(cmds, m.going())
	}
	return tea.Batch(cmds...)
}

// tell shows a line for a while.
func (m *Model) tell(wrong bool, text string) {
	m.note = note{text: text, wrong: wrong, until: m.cfg.Now().Add(noteFor)}
}
