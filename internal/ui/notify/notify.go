// Package notify tells a person who looks elsewhere how a session stands: by the terminal's title, by its bell, by a
// notification of the desktop, and by the status that some terminals show beside a tab.
//
// # The model
//
// A [Notifier] is told how the session stands ([Notifier.Set]) and what the person does ([Notifier.Update]); what it gives
// are commands that write bytes to the terminal. Title and status follow the state. Bell and notification come when the
// session begins to wait for its person, or has finished, and nobody looks: the terminal has no focus or, where it does
// not tell, no key was pressed for half a minute.
//
// All texts are taken for hostile: none of their control characters gets through.
//
// # The caller's duties
//
// Pass it every [tea.FocusMsg], [tea.BlurMsg] and [tea.KeyPressMsg], and what its own commands give. Have the terminal
// report its focus (tea.View.ReportFocus), and leave tea.View.WindowTitle empty. When the program has ended, however it
// did, write what Leave gives: the title is what it was before.
package notify

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// State is how a session stands.
type State int

// The states of a session, as far as a person elsewhere is concerned.
const (
	Idle    State = iota // nothing happens, and nothing is waited for
	Working              // it works
	Blocked              // it waits for its person
	Done                 // it has finished something, and nobody has looked yet
	Failed               // it stopped with an error
)

// Kind is what a session waits for that is blocked.
type Kind int

// What is waited for.
const (
	Anything   Kind = iota
	Permission      // whether something may be done
	Question        // an answer in words
	Login           // a key or a login for a model
)

// Report is how a session stands now.
type Report struct {
	State   State
	Kind    Kind   // of Blocked
	Session string // its title
	Words   string // what it waits for, or what became of it; one line
}

// Config is what a notifier is made of. A terminal that is known to understand nothing of something is spared it.
type Config struct {
	Title, Bell, Notify, Status bool // what is wanted
	// Passthrough has notifications and status wrapped so that tmux hands them on to the terminal around it, if its
	// option allow-passthrough is on. Without it tmux gets them as they are.
	Passthrough bool
	Getenv      func(string) string // required
	Now         func() time.Time    // required
}

// Bounds of how often something is written.
const (
	writeEvery  = 250 * time.Millisecond // title and status
	notifyEvery = 5 * time.Second        // bell and notification
	away        = 30 * time.Second       // without a key nobody is taken to look
)

// focus is what is known of who looks.
type focus int

const (
	unknown focus = iota // the terminal does not tell
	looks
	looksElsewhere
)

// Notifier writes to one terminal. It is used from one goroutine, as bubbletea does.
type Notifier struct {
	cfg      Config
	term     terminal
	now      Report
	shown    Report // what title and status say
	entered  bool   // the title that there was is kept
	said     bool   // something is shown
	written  time.Time
	due      bool // a look at what is to be written is on its way
	focus    focus
	key      time.Time // when the newest one was pressed
	owed     bool      // bell and notification, once it is time
	notified time.Time
	later    func(time.Duration, tea.Msg) tea.Cmd // sends a message after a time
}

// dueMsg says that it may be time to write.
type dueMsg struct{ n *Notifier }

// New makes a notifier.
func New(cfg Config) *Notifier {
	n := &Notifier{cfg: cfg, term: terminalOf(cfg.Getenv), key: cfg.Now()}
	n.later = func(d time.Duration, msg tea.Msg) tea.Cmd { return tea.Tick(d, func(time.Time) tea.Msg { return msg }) }
	n.cfg.Title = cfg.Title && n.term.title
	n.cfg.Bell = cfg.Bell && n.term.bell
	n.cfg.Notify = cfg.Notify && n.term.osc
	n.cfg.Status = cfg.Status && n.term.osc
	return n
}

// Leave is what gives the terminal back as it was. It is for after the program, so it is no command.
func (n *Notifier) Leave() string {
	out := ""
	if n.entered {
		out += popTitle
	}
	if n.cfg.Status && n.said {
		out += n.wrap(clearStatus)
	}
	n.entered, n.said = false, false
	return out
}

// Set says how the session stands. What has not changed is not written again.
func (n *Notifier) Set(r Report) tea.Cmd {
	before := n.now
	if n.now = r; r.State != before.State || r.Kind != before.Kind || r.Words != before.Words {
		n.owed = r.State >= Blocked && !n.present()
	}
	return n.write()
}

// Update takes what the person does. A result that is looked at is no news any more.
func (n *Notifier) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.FocusMsg:
		n.focus = looks
	case tea.BlurMsg:
		n.focus = looksElsewhere
		return nil
	case tea.KeyPressMsg:
		if n.key = n.cfg.Now(); n.focus == looksElsewhere {
			n.focus = looks
		}
	case dueMsg:
		if msg.n != n {
			return nil
		}
		n.due = false
		return n.write()
	default:
		return nil
	}
	n.owed = false
	if n.now.State != Done {
		return nil
	}
	n.now.State, n.now.Words = Idle, ""
	return n.write()
}

// present reports that somebody looks.
func (n *Notifier) present() bool {
	if n.focus == unknown {
		return n.cfg.Now().Sub(n.key) < away
	}
	return n.focus == looks
}

// write gives what has changed, as far as it is time; of the rest it comes back.
func (n *Notifier) write() tea.Cmd {
	now := n.cfg.Now()
	var out string
	wait := time.Duration(-1)
	if !n.said || n.shown != n.now {
		if rest := writeEvery - now.Sub(n.written); !n.said || rest <= 0 {
			out += n.titleBytes() + n.statusBytes()
			n.shown, n.said, n.written = n.now, true, now
		} else {
			wait = rest
		}
	}
	if n.owed {
		if rest := notifyEvery - now.Sub(n.notified); n.notified.IsZero() || rest <= 0 {
			out += n.noticeBytes()
			n.owed, n.notified = false, now
		} else if wait < 0 || rest < wait {
			wait = rest
		}
	}
	var cmds []tea.Cmd
	if out != "" {
		cmds = append(cmds, tea.Raw(out))
	}
	if wait >= 0 && !n.due {
		n.due = true
		cmds = append(cmds, n.later(wait, dueMsg{n}))
	}
	return tea.Batch(cmds...)
}
