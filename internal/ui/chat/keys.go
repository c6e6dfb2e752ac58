package chat

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/textpage"
	"github.com/perdure/perdure/internal/ui/transcript"
)

// leaveWithin is how soon the second ctrl+c must come after the first.
const leaveWithin = 3 * time.Second

// escGrace is how long esc cancels nothing after the list of what waits has closed: it was meant for the list.
const escGrace = 2 * time.Second

// key takes a key: first what means the same everywhere, then what belongs to whoever has the keys.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name != "ctrl+c" {
		m.leaving, m.note = time.Time{}, note{} // what it said was read
	}
	if name != "esc" {
		m.escaped = time.Time{}
	}
	m.older.find = "" // whoever goes on by hand is not taken elsewhere by what is found later
	switch name {
	case "ctrl+z":
		return tea.Suspend
	case "ctrl+l":
		return tea.ClearScreen
	case "ctrl+c":
		return m.interrupt()
	}
	switch {
	case m.page != nil:
		return m.pageKey(k, name)
	case m.asking():
		return m.askKey(k, name)
	case m.search.on:
		return m.searchKey(k, name)
	case m.talk.Browsing():
		if cmd, used := m.browseKey(name); used {
			return cmd
		}
		m.talk.Browse(false)
	}
	return m.composeKey(k, name)
}

// asking reports whether the list of what waits has the keys.
func (m *Model) asking() bool { return m.cfg.Asks != nil && m.cfg.Asks.Focused() }

// paste hands a text to whoever has the keys.
func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	switch {
	case m.page != nil:
		return m.page.Update(msg)
	case m.asking():
		return m.cfg.Asks.Update(msg)
	case m.search.on:
		m.search.line.Paste(msg.Content)
		return nil
	}
	m.talk.Browse(false)
	return m.in.Update(msg)
}

// backer is a page that goes back inside of itself before it is closed.
type backer interface{ Back() bool }

func (m *Model) pageKey(k tea.KeyPressMsg, name string) tea.Cmd {
	if name == "esc" && !m.page.Typing() {
		if b, ok := m.page.(backer); !ok || !b.Back() {
			m.closePage()
		}
		return nil
	}
	if name == "q" && !m.page.Typing() {
		m.closePage()
		return nil
	}
	return m.page.Update(k)
}

func (m *Model) closePage() { m.page, m.title, m.closed = nil, "", m.cfg.Now() }

func (m *Model) askKey(k tea.KeyPressMsg, name string) tea.Cmd {
	if name == "ctrl+o" || name == "esc" && !m.cfg.Asks.Typing() && !m.cfg.Asks.Back() {
		m.cfg.Asks.Blur()
		return nil
	}
	if name == "esc" && !m.cfg.Asks.Typing() {
		return nil
	}
	return m.cfg.Asks.Update(k)
}

// composeKey takes a key while the composer has the keys.
func (m *Model) composeKey(k tea.KeyPressMsg, name string) tea.Cmd {
	if m.scrollKey(name) {
		return m.scrolled()
	}
	idle := !m.in.Typing()
	switch {
	case name == "ctrl+o":
		return m.openAsks()
	case name == "shift+tab":
		return m.cycleMode()
	case name == "ctrl+f":
		m.search = search{on: true}
		return nil
	case name == "tab" && idle:
		m.talk.Browse(true)
		return nil
	case name == "ctrl+t" && idle:
		return m.command("tasks", "")
	case name == "ctrl+s":
		return m.intoScrollback()
	case name == "?" && idle:
		return m.command("help", "")
	case name == "alt+up" || name == "up" && idle && len(m.queue) > 0:
		return m.takeBack()
	case name == "ctrl+d" && idle:
		return m.leave()
	case name == "esc" && (idle || !m.in.Wants(k)):
		return m.escape()
	case name == "enter" && idle:
		return m.goOn()
	}
	return m.in.Update(k)
}

// scrollKey moves over the conversation, whatever is written.
func (m *Model) scrollKey(name string) bool {
	page := max(m.rows.talk-2, 1)
	switch name {
	case "pgup":
		m.talk.Scroll(-page)
	case "pgdown":
		m.talk.Scroll(page)
	case "shift+up":
		m.talk.Scroll(-1)
	case "shift+down":
		m.talk.Scroll(1)
	case "shift+home":
		m.talk.Begin()
	case "shift+end":
		m.talk.End()
	default:
		return false
	}
	return true
}

// scrolled brings older items when the first one is on the screen.
func (m *Model) scrolled() tea.Cmd {
	if m.talk.AtStart() {
		return m.loadOlder()
	}
	return nil
}

// browseKey takes a key while items are selected; used is false for what begins a message.
func (m *Model) browseKey(name string) (cmd tea.Cmd, used bool) {
	if m.scrollKey(name) {
		return m.scrolled(), true
	}
	switch name {
	case "up", "k":
		if m.talk.Move(-1) {
			return m.loadOlder(), true
		}
	case "down", "j":
		m.talk.Move(1)
	case "g", "home":
		m.talk.Move(-m.talk.Len())
		return m.loadOlder(), true
	case "G", "end":
		m.talk.Move(m.talk.Len())
		m.talk.End()
	case "enter", "space", "o":
		m.talk.Toggle()
		return m.peek(), true
	case "v":
		return m.whole(), true
	case "a":
		m.talk.ToggleAll()
	case "y":
		return m.copySelected(), true
	case "/":
		m.search = search{on: true}
	case "n":
		return m.find(m.search.last, true), true
	case "N":
		return m.find(m.search.last, false), true
	case "w":
		return m.intoScrollback(), true
	case "tab", "esc", "q", "i":
		m.talk.Browse(false)
		m.talk.End()
	default:
		return nil, false
	}
	return nil, true
}

// whole opens a page with all of what is selected: of a call all that it has printed, more than the model was shown.
func (m *Model) whole() tea.Cmd {
	it, ok := m.talk.Selected()
	if !ok {
		return nil
	}
	if it.Kind != transcript.Tool {
		return m.open("all of it", textpage.New(m.cfg.Style, "all of it", it.Text))
	}
	link, ctx := m.cfg.Link, m.ctx
	return func() tea.Msg {
		text, omitted, err := link.Whole(ctx, it.Call)
		if text == "" {
			text, omitted = it.Call.Output, it.Call.Omitted
		}
		if omitted > 0 {
			text = "… " + plain.Size(omitted) + " before this\n" + text
		}
		if strings.TrimSpace(text) == "" {
			return doneMsg{note: "it has printed nothing", err: err}
		}
		return replyMsg{"output", Reply{Title: it.Call.Name + " " + it.Call.About, Text: text}, err}
	}
}

func (m *Model) copySelected() tea.Cmd {
	it, ok := m.talk.Selected()
	if !ok {
		return nil
	}
	// What is pasted elsewhere is what was seen here.
	text := plain.Text(it.Text)
	if text == "" {
		text = strings.TrimSpace(plain.Text(it.Call.About) + "\n" + plain.Text(plain.Redrawn(it.Call.Output)))
	}
	m.tell(false, "copied, if this terminal lets programs copy")
	return tea.SetClipboard(text)
}

// openAsks gives the keys to the list of what waits.
func (m *Model) openAsks() tea.Cmd {
	if m.cfg.Asks == nil || m.cfg.Asks.Waiting() == 0 {
		m.tell(false, "nothing waits for an answer")
		return nil
	}
	return m.cfg.Asks.Focus()
}

// interrupt is ctrl+c: it clears what is written, or asks to leave, and the second time leaves.
func (m *Model) interrupt() tea.Cmd {
	if m.page == nil && !m.asking() && !m.search.on && !m.in.Empty() && m.leaving.IsZero() {
		cmd := m.in.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
		m.leaving = m.cfg.Now()
		m.tell(false, "ctrl+c again leaves; up gets back what was written")
		m.note.until = m.leaving.Add(leaveWithin)
		return cmd
	}
	if !m.leaving.IsZero() && m.cfg.Now().Sub(m.leaving) <= leaveWithin {
		return m.leave()
	}
	m.leaving = m.cfg.Now()
	m.tell(false, m.leaveHint())
	m.note.until = m.leaving.Add(leaveWithin)
	link, ctx := m.cfg.Link, m.ctx
	return func() tea.Msg { return leavingMsg{link.Leaving(ctx)} }
}

// leaveHint is what the first ctrl+c says.
func (m *Model) leaveHint() string {
	leaves := "ctrl+c again leaves"
	if m.cfg.Nested {
		leaves = "ctrl+c again goes back to where you came from"
	}
	if m.stand.Working {
		return leaves + ", esc cancels what runs"
	}
	return leaves
}

// escape is esc with nothing to close: it cancels what runs.
func (m *Model) escape() tea.Cmd {
	if follows, _ := m.talk.Following(); !follows {
		m.talk.End()
		return nil
	}
	if m.cfg.Nested && !m.stand.Working {
		if !m.in.Empty() || m.cfg.Now().Sub(m.closed) < escGrace {
			return nil
		}
		return m.leave()
	}
	if !m.stand.Working && m.stand.Waits == 0 && m.stand.Halted == "" {
		return m.escapeTwice()
	}
	if m.gone != nil {
		return nil
	}
	if m.cfg.Now().Sub(m.closed) < escGrace || (m.stand.Waits > 0 || m.stand.Other != "") && m.cfg.Now().Sub(m.warned) > leaveWithin {
		m.closed, m.warned = time.Time{}, m.cfg.Now()
		m.tell(false, "esc again cancels what runs")
		return nil
	}
	if m.cancelling { // what begins then is not meant
		return nil
	}
	m.cancelling = true
	m.tell(false, "cancelling…")
	link, ctx := m.cfg.Link, m.ctx
	return func() tea.Msg {
		stopped, err := link.Cancel(ctx)
		return cancelledMsg{stopped, err}
	}
}

// escapeTwice opens /rewind the second time. It opens a page, and does nothing else.
func (m *Model) escapeTwice() tea.Cmd {
	if !m.cfg.Rewind || m.gone != nil || m.stand.ID == "" || !m.in.Empty() {
		return nil
	}
	if !m.escaped.IsZero() && m.cfg.Now().Sub(m.escaped) <= leaveWithin {
		m.escaped = time.Time{}
		return m.command("rewind", "")
	}
	m.escaped = m.cfg.Now()
	m.tell(false, "esc again: go back to an earlier turn")
	return nil
}

func (m *Model) cancelled(msg cancelledMsg) {
	m.cancelling = false
	if msg.err != nil {
		m.tell(true, "not cancelled: "+msg.err.Error())
		return
	}
	text := "cancelled"
	if len(msg.stopped) > 0 {
		text += "; ended: " + strings.Join(msg.stopped, ", ")
	}
	if len(m.queue) > 0 {
		text += "; the next message begins"
	}
	m.tell(false, text)
}

// goOn is enter with nothing written: it lets a halted turn go on.
func (m *Model) goOn() tea.Cmd {
	switch {
	case m.gone != nil && m.gone.Again && m.stand.ID != "":
		return m.reopen()
	case m.gone != nil:
		m.tell(true, m.gone.Text)
		return nil
	case m.stand.Halted == "" || m.stand.Working:
		return nil
	}
	return m.going()
}

// going lets the session go on.
func (m *Model) going() tea.Cmd {
	m.tell(false, "going on…")
	link, ctx := m.cfg.Link, m.ctx
	return func() tea.Msg {
		goal, err := link.Continue(ctx)
		return replyMsg{"continue", Reply{Go: goal}, err}
	}
}

// modes are those that a key goes through, in order.
var modes = [...]string{"default", "acceptEdits", "plan"}

func (m *Model) cycleMode() tea.Cmd {
	next := modes[0]
	for i, mode := range modes {
		if mode == m.stand.Mode {
			next = modes[(i+1)%len(modes)]
		}
	}
	link, ctx := m.cfg.Link, m.ctx
	return func() tea.Msg {
		if err := link.Mode(ctx, next); err != nil {
			return doneMsg{err: err}
		}
		return doneMsg{note: "mode " + next}
	}
}

// takeBack takes the newest message back that waits, and gives it to the composer.
func (m *Model) takeBack() tea.Cmd {
	if len(m.queue) == 0 || m.gone != nil || m.queue[len(m.queue)-1].Key == m.taking {
		return nil
	}
	q := m.queue[len(m.queue)-1]
	m.taking = q.Key
	link, ctx := m.cfg.Link, m.ctx
	return func() tea.Msg { return backMsg{q, link.Withdraw(ctx, q.Key)} }
}

func (m *Model) takenBack(msg backMsg) (cmd tea.Cmd) {
	m.taking = ""
	if msg.err != nil {
		m.tell(true, "not taken back: "+msg.err.Error())
		return nil
	}
	mine, ok := m.mine[msg.of.Key]
	draft := mine.Draft
	switch {
	case ok:
		m.goes(mine.ran...)
	case msg.of.Draft != nil:
		draft, cmd = *msg.of.Draft, m.forgetTold(msg.of.Key)
	default:
		draft = composer.Draft{Parts: []composer.Part{composer.Text(msg.of.Text)}}
	}
	m.in.TakeBack(draft)
	delete(m.mine, msg.of.Key)
	for i, q := range m.queue { // unless its end is known already
		if q.Key == msg.of.Key {
			m.queue = append(m.queue[:i:i], m.queue[i+1:]...)
			break
		}
	}
	return cmd
}

// forgetTold forgets what was run and stands in the text of a message, which is written again.
func (m *Model) forgetTold(key string) tea.Cmd {
	var ran []Ran
	for _, act := range Told(key) {
		ran = append(ran, Ran{Act: act})
	}
	if len(ran) == 0 {
		return nil
	}
	link, ctx := m.cfg.Link, m.ctx
	return func() tea.Msg { return doneMsg{err: link.ShellForget(ctx, ran)} }
}
