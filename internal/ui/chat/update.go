package chat

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// What comes back from work that was begun here.
type (
	sentMsg struct {
		key     string
		written written
		err     error
	}
	backMsg struct {
		of  Queued
		err error
	}
	cancelledMsg struct {
		stopped []string
		err     error
	}
	doneMsg struct {
		note string
		err  error
	}
	olderMsg struct {
		items []transcript.Item
		more  bool
		err   error
	}
	peekMsg struct {
		texts map[string]peeked
	}
	replyMsg struct {
		name  string
		reply Reply
		err   error
	}
	leavingMsg struct{ text string }
	beatMsg    struct{ n int }
	stillMsg   struct{ resizes int }
	// CloseMsg closes the page that is open.
	CloseMsg struct{}
	// Done is what came of work that a page had begun, which reports that it does by a method Working: the page is over
	// then. Nobody who has closed it meanwhile is taken elsewhere.
	Done struct {
		Name  string // of the command
		Reply Reply
		Err   error
	}
)

type peeked struct {
	text    string
	omitted int64
}

// beatEvery is how often what changes with time alone is drawn while something runs, and idleBeat otherwise.
const (
	beatEvery = 250 * time.Millisecond
	idleBeat  = 5 * time.Second
)

// beats is the clock of the screen: one beat is awaited at a time, and only the newest one counts.
type beats struct {
	n     int
	every time.Duration // until the one that is awaited; 0: none is
}

// beat has the next beat come, sooner than one that is awaited if something moves by now.
func (m *Model) beat() tea.Cmd {
	every := idleBeat
	if m.stand.Working || m.talk.Ticks() || m.note.text != "" {
		every = beatEvery
	}
	if m.beats.every > 0 && m.beats.every <= every {
		return nil
	}
	m.beats = beats{m.beats.n + 1, every}
	n := m.beats.n
	return tea.Tick(every, func(time.Time) tea.Msg { return beatMsg{n} })
}

// answering gives the keys to what waits, if that was wished for at the beginning, once it is known.
func (m *Model) answering() tea.Cmd {
	if !m.cfg.Answer || m.cfg.Asks == nil || m.cfg.Asks.Waiting() == 0 {
		return nil
	}
	m.cfg.Answer = false
	return m.cfg.Asks.Focus()
}

// Update takes a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	had := m.asking()
	cmd := m.update(msg)
	if had && !m.asking() {
		m.closed = m.cfg.Now()
	}
	m.layout()
	m.forget()
	switch msg.(type) {
	case composer.SentMsg: // what is sent is not to be found as if it were not
		cmd = tea.Batch(cmd, m.keep())
	case tea.KeyPressMsg, tea.PasteMsg, backMsg, sentMsg, forgottenMsg:
		cmd = tea.Batch(cmd, m.keepSoon())
	}
	return m, tea.Batch(cmd, m.answering(), m.beat(), m.notices(), m.inlined())
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return m.resized(msg)
	case stillMsg:
		if msg.resizes == m.resizes {
			m.resizing = false
			if !m.cfg.Inline {
				return tea.ClearScreen
			}
		}
		m.layout()
		if m.leaveThen {
			return m.leave()
		}
		if m.talk.Len() > 0 { // what is known may not fill the screen
			return m.scrolled()
		}
		return nil
	case tea.ColorProfileMsg:
		m.plain = strings.EqualFold(msg.String(), "ascii") || strings.EqualFold(msg.String(), "notty")
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		return m.paste(msg)
	case beatMsg:
		if msg.n == m.beats.n {
			return m.beaten()
		}
		return nil
	case Changed:
		return m.changed(msg)
	case Working:
		m.working = msg.Text
		return nil
	case Gone:
		m.gone = &msg
		m.stand.Working, m.stand.Activity = false, "" // here, whatever the log says of the turn
		m.result.Gone, m.result.Err = msg.Text, msg.Err
		return nil
	case Made:
		m.cfg.Asks = msg.Asks
		return msg.Asks.Init()
	case printedMsg:
		m.printing = false
		if m.leaveThen {
			return m.leave()
		}
		return nil
	case composer.SentMsg:
		return m.submit(msg.Draft)
	case keepMsg:
		if msg.n == m.kept.n {
			return m.keep()
		}
		return nil
	case keptMsg:
		m.keptNow(msg)
		return nil
	case reopenMsg:
		return m.reopened(msg)
	case chosenMsg:
		return m.chosen(msg)
	case CloseMsg:
		m.closePage()
		return nil
	case Done:
		return m.came(msg)
	}
	return m.answered(msg)
}

// stillAfter is how long the size stays as it is until all is drawn anew: terminals move what they show when they get
// larger, so that what is known to be there may not be. While somebody drags an edge nothing is cleared.
const stillAfter = 150 * time.Millisecond

// printAfter is that for a screen among printed lines: nothing is printed before the size has settled, and drawn again.
const printAfter = 600 * time.Millisecond

func (m *Model) resized(msg tea.WindowSizeMsg) tea.Cmd {
	first := m.width == 0
	m.width, m.height = msg.Width, msg.Height
	if first {
		return nil
	}
	m.resizes++
	m.resizing = true
	n, after := m.resizes, stillAfter
	if m.cfg.Inline {
		after = printAfter
	}
	return tea.Tick(after, func(time.Time) tea.Msg { return stillMsg{n} })
}

// answered takes what comes back from work; what is nobody's goes to the components.
func (m *Model) answered(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case sentMsg:
		return m.sent(msg)
	case backMsg:
		return m.takenBack(msg)
	case cancelledMsg:
		m.cancelled(msg)
	case doneMsg:
		if msg.err != nil {
			m.tell(true, msg.err.Error())
		} else if msg.note != "" {
			m.tell(false, msg.note)
		}
	case olderMsg:
		return m.gotOlder(msg)
	case peekMsg:
		m.peeked(msg)
	case replyMsg:
		return m.replied(msg)
	case ranMsg:
		return m.shellRuns(msg)
	case endedMsg:
		m.shellEnded(msg)
	case leftMsg:
		return m.shellThere(msg)
	case forgottenMsg:
		m.in.TakeBack(msg.draft)
		m.tell(true, "not remembered, and written again below: "+msg.err.Error())
	case leavingMsg:
		if !m.leaving.IsZero() && msg.text != "" {
			m.tell(false, m.leaveHint()+"; "+msg.text)
			m.note.until = m.cfg.Now().Add(leaveWithin)
		}
	default:
		return m.everybody(msg)
	}
	return nil
}

// everybody hands a message to all components: each knows its own.
func (m *Model) everybody(msg tea.Msg) tea.Cmd {
	cmds := []tea.Cmd{m.in.Update(msg)}
	if m.cfg.Asks != nil {
		cmds = append(cmds, m.cfg.Asks.Update(msg))
	}
	if m.cfg.Notify != nil {
		cmds = append(cmds, m.cfg.Notify.Update(msg))
	}
	if m.page != nil {
		cmds = append(cmds, m.page.Update(msg))
	}
	return tea.Batch(cmds...)
}

// beaten draws what changes with time, and looks at the output of open calls.
func (m *Model) beaten() tea.Cmd {
	m.beats.every = 0
	m.frame++
	now := m.cfg.Now()
	if m.note.text != "" && now.After(m.note.until) {
		m.note = note{}
	}
	if !m.leaving.IsZero() && now.Sub(m.leaving) > leaveWithin {
		m.leaving = time.Time{}
	}
	return m.peek()
}

// changed takes what became of the session.
func (m *Model) changed(msg Changed) tea.Cmd {
	for _, id := range msg.Drop {
		m.talk.Drop(id)
	}
	for _, s := range msg.Said {
		m.talk.Say(s.ID, s.Kind, s.Text)
	}
	for _, it := range msg.Items {
		if it.More {
			m.talk.Say(it.ID, it.Kind, it.Text)
		} else {
			m.talk.Put(it)
		}
	}
	for _, id := range msg.Whole {
		m.talk.Settle(id)
	}
	if msg.Queues {
		m.queue = msg.Queue
	}
	m.told(msg.Told)
	if msg.Stand == nil {
		return nil
	}
	was := m.stand
	m.stand = *msg.Stand
	m.done = !m.stand.Working && (m.done || was.Working)
	if m.cfg.Asks == nil || was.Waits == 0 && m.stand.Waits == 0 {
		return nil
	}
	return m.cfg.Asks.Refresh()
}

// peek looks at what calls print that are open on the screen.
func (m *Model) peek() tea.Cmd {
	acts := m.talk.OpenLive()
	if len(acts) == 0 || m.peeking {
		return nil
	}
	m.peeking = true
	link, ctx := m.cfg.Link, m.ctx
	return func() tea.Msg {
		out := map[string]peeked{}
		for _, act := range acts {
			if text, omitted, err := link.Output(ctx, act); err == nil {
				out[act] = peeked{text, omitted}
			}
		}
		return peekMsg{out}
	}
}

func (m *Model) peeked(msg peekMsg) {
	m.peeking = false
	for act, p := range msg.texts {
		it, ok := m.talk.Item(CallID(act))
		if ok && it.Call.State.Live() && it.Call.Output != p.text {
			it.Call.Output, it.Call.Omitted = p.text, p.omitted
			m.talk.Put(it)
		}
	}
}

// CallID is the ID of the item of a call, whose act is given without its attempt.
func CallID(act string) string { return "call " + act }

// forget lets go of what is far up in a conversation that is long by now. It is read again when somebody scrolls there.
func (m *Model) forget() {
	if m.cfg.Inline || m.older.busy || m.older.find != "" {
		return
	}
	if through := m.talk.Forget(); through > 0 {
		m.cfg.Link.Again(through)
		m.older.done = false
	}
}

// loadOlder brings older items, once at a time.
func (m *Model) loadOlder() tea.Cmd {
	if m.older.busy || m.older.done {
		return nil
	}
	m.older.busy = true
	link, ctx := m.cfg.Link, m.ctx
	return func() tea.Msg {
		items, more, err := link.Older(ctx)
		return olderMsg{items, more, err}
	}
}

func (m *Model) gotOlder(msg olderMsg) tea.Cmd {
	m.older.busy = false
	if msg.err != nil {
		m.tell(true, "the earlier conversation cannot be read: "+msg.err.Error())
		m.older.find = ""
		return nil
	}
	m.older.done = !msg.more
	m.talk.Prepend(msg.items)
	if m.older.find != "" {
		return m.find(m.older.find, true)
	}
	if follows, _ := m.talk.Following(); follows && len(msg.items) > 0 {
		return m.scrolled() // they may not fill the screen
	}
	return nil
}
