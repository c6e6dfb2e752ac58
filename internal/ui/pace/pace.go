// Package pace runs a screen that is drawn at once when something happens and costs next to nothing while nothing does,
// that has its terminal again when the process goes on after it was stopped, and that stands once among printed lines
// however narrow its terminal is made, if that has been asked for its name ([tea.RequestTerminalVersion]).
//
// bubbletea looks 60 times a second whether there is something to draw, for as long as a program runs: measured, 0.8 % of
// a processor for a screen on which nothing moves. Its ticker is slowed down here while no message comes, and set to its
// pace by the first one. A key would wait for the next of these looks, up to a whole frame: it has some of its own, sooner.
// The ticker is a private field of bubbletea's; where there is none of that name and type, as may be in another version,
// the pace stays what it was.
package pace

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// How often the screen is drawn at most, and how often it is looked at while nothing happens, from a while after the
// newest message on.
const (
	fps       = 60
	idleEvery = 500 * time.Millisecond
	idleAfter = 300 * time.Millisecond
	keyWithin = 3 * time.Millisecond // after a key
	keyLooks  = 4                    // of that kind, until the pace is what it was: what the key changed is ready by then
)

// New makes a program of a model.
func New(m tea.Model, opts ...tea.ProgramOption) *tea.Program {
	paced := &model{in: m}
	paced.program = tea.NewProgram(paced, append(opts, tea.WithFPS(fps), tea.WithFilter(paced.filter))...)
	return paced.program
}

// model hands everything to the one in it, and wakes the screen for each message.
type model struct {
	in      tea.Model
	program *tea.Program
	conts   conts
	reflow  reflow
	whole   bool // the terminal measures a character of several parts as one

	mu     sync.Mutex
	looked bool
	ticker *time.Ticker // of the program; nil: it could not be found
	rest   *time.Timer
	after  *time.Timer   // ends the looks after a key
	every  time.Duration // at which the ticker is; 0: as it was made
	slow   bool
	held   bool // nothing is drawn until the width has settled
	hold   hold // the rest of that, of the program's loop alone
}

func (m *model) Init() tea.Cmd {
	m.conts.watch(m.program)
	return m.in.Init()
}

// filter sees every message before bubbletea and the model do.
func (m *model) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	m.conts.filter(msg)
	if m.kept(msg) {
		return nil
	}
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.sized(msg)
	case tea.CursorPositionMsg:
		m.answered(msg.X + 1)
	case settled:
		m.settled(msg)
	case tea.ModeReportMsg: // as bubbletea takes it
		if msg.Mode == ansi.ModeUnicodeCore {
			m.whole = msg.Value == ansi.ModeReset || msg.Value == ansi.ModeSet || msg.Value == ansi.ModePermanentlySet
		}
	case tea.TerminalVersionMsg:
		m.reflow.named(msg.Name)
	case tea.EnvMsg:
		m.reflow.env(msg)
	}
	return msg
}

func (m *model) View() tea.View {
	v := m.in.View()
	v.Content = agreed(composed(v.Content), m.whole)
	m.reflow.shrinks(m.program, v)
	return v
}

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, key := msg.(tea.KeyPressMsg)
	m.wake(key)
	if _, ok := msg.(continued); ok {
		return m, ready()
	}
	if k, ok := msg.(tea.KeyPressMsg); ok && k.Code == tea.KeyEscape && k.Mod == tea.ModAlt {
		return m, tea.Batch(m.hand(esc), m.hand(esc))
	}
	return m, m.hand(msg)
}

// esc is one of two that were pressed so soon after each other, or came over a line so slow, that they look like one
// key with another.
var esc = tea.KeyPressMsg{Code: tea.KeyEscape}

func (m *model) hand(msg tea.Msg) (cmd tea.Cmd) {
	m.in, cmd = m.in.Update(msg)
	return cmd
}

// wake has the screen drawn soon; after a key, sooner.
func (m *model) wake(key bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.looked {
		m.looked, m.ticker = true, tickerOf(m.program)
	}
	switch {
	case m.ticker == nil:
		return
	case m.rest == nil:
		m.rest = time.AfterFunc(idleAfter, m.idle)
		m.after = time.AfterFunc(keyLooks*keyWithin, m.drawn)
	default:
		m.rest.Reset(idleAfter)
	}
	switch {
	case key:
		m.set(keyWithin)
		m.after.Reset(keyLooks * keyWithin)
	case m.slow:
		m.set(time.Second / fps)
	}
}

// drawn gives the screen its pace back after a key.
func (m *model) drawn() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.every == keyWithin {
		m.set(time.Second / fps)
	}
}

// idle slows down while nothing happens.
func (m *model) idle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(idleEvery)
}

// set has the ticker tick so often, from now on.
func (m *model) set(every time.Duration) {
	if m.held {
		return
	}
	m.ticker.Reset(every)
	m.every, m.slow = every, every == idleEvery
}

// tickerOf is the ticker of a program that runs; nil if this version of bubbletea has none where it is looked for.
func tickerOf(p *tea.Program) *time.Ticker {
	f := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !f.IsValid() || f.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(unsafe.Pointer(f.UnsafeAddr())) //nolint:gosec // read once the program runs, and only to change its pace
}
