package chat

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/statusline"
	"github.com/perdure/perdure/internal/ui/theme"
)

// The least room in which the screen makes sense, in cells.
const (
	minWidth  = 20
	minHeight = 6
)

// Bounds of the parts, in lines.
const (
	maxQueueLines = 3
	maxStrip      = 3
	maxInput      = 12
	inlineLines   = 10 // of the live area, in all
	inlineRule    = 16 // cells of the rule there: see narrowed
	narrow        = 60 // cells below which hints are left out
	roomy         = 90 // cells from which on they are long
)

// rows are how the height is shared out, in lines; below them comes one about how the session stands.
type rows struct{ talk, trouble, queue, strip, rule, input int }

// room is the height that the conversation and what is below it share.
func (m *Model) room() int {
	if m.cfg.Inline {
		return min(m.height, inlineLines)
	}
	return m.height
}

// layout gives every part its room: what is written comes first, then some of the conversation, then what went wrong,
// what waits for an answer, and what waits for its turn.
func (m *Model) layout() {
	if m.width < minWidth || m.height < minHeight {
		return
	}
	const last = 1
	height := m.room()
	m.in.SetSize(m.width, max(min(maxInput, height/2), 1))
	r := rows{rule: 1, input: 1}
	if !m.search.on {
		r.input = m.in.Height()
	}
	left := height - last - r.rule - r.input
	least := max(min(left/2, height/4), 1)
	if m.cfg.Inline {
		least = 0
	}
	take := func(want int) int {
		got := max(min(want, left-least), 0)
		left -= got
		return got
	}
	if m.trouble() != "" {
		r.trouble = take(1)
	}
	if a := m.cfg.Asks; a != nil {
		if m.asking() {
			a.SetSize(m.width, max(m.height-last, 1))
		} else {
			a.SetSize(m.width, maxStrip)
			r.strip = take(a.Height(maxStrip))
			a.SetSize(m.width, r.strip)
		}
	}
	r.queue = take(min(len(m.queue), maxQueueLines))
	r.talk = max(left, 0)
	m.rows = r
	m.talk.SetSize(m.width, r.talk)
	if m.page != nil {
		m.page.SetSize(m.width, max(m.height-last, 1))
	}
}

// trouble is why nothing goes on; empty: nothing is wrong.
func (m *Model) trouble() string {
	st := m.cfg.Style
	switch {
	case m.gone != nil:
		return st.Bad.Styled(theme.Cut("! "+plain.Line(m.gone.Text, 1000), m.width))
	case m.stand.Halted != "" && !m.stand.Working:
		return st.Alert("‖ ", plain.Line(m.stand.Halted, 1000), m.width)
	}
	return ""
}

// foot are the lines below the conversation.
func (m *Model) foot() []string {
	var lines []string
	if m.rows.trouble > 0 {
		lines = append(lines, m.trouble())
	}
	lines = append(lines, m.queueLines(m.rows.queue)...)
	if m.rows.strip > 0 {
		lines = append(lines, strings.Split(m.cfg.Asks.View(), "\n")...)
	}
	lines = append(lines, m.ruleLine())
	if m.search.on {
		line, _ := m.searchLine()
		return append(lines, line, m.lastLine())
	}
	return append(append(lines, strings.Split(m.in.View(), "\n")...), m.lastLine())
}

// searchLine is what is looked for, and where the cursor stands in it.
func (m *Model) searchLine() (line string, x int) {
	hint := ""
	if m.search.line.Text == "" {
		hint = "words; enter looks upwards, ↓ downwards, esc closes"
		if m.search.last != "" {
			hint = plain.Line(m.search.last, 100) + " again; enter looks upwards, ↓ downwards, esc closes"
		}
	}
	const label = "find: "
	return m.search.line.View(m.cfg.Style, label, theme.Cut(hint, m.width-len(label)-10), m.width)
}

// ruleLine parts the conversation from where one writes; it says what is not on the screen.
func (m *Model) ruleLine() string {
	st, text := m.cfg.Style, ""
	switch follows, unseen := m.talk.Following(); {
	case m.talk.Browsing():
		text = " ↑↓ move  enter open  v all of it  / find  y copy  esc back "
	case !follows && unseen:
		text = " ↓ there is more below: esc goes there "
	case !follows:
		text = " earlier words: esc goes back "
	}
	end := m.width
	if m.cfg.Inline {
		end = min(end, len([]rune(text))+inlineRule)
	}
	line := text + strings.Repeat("─", max(end-len([]rune(text)), 0))
	return st.Quiet.Styled(theme.Cut(line, m.width))
}

// queueLines are the messages that wait for their turn, in at most n lines: the newest one, which can be taken back, is
// always there.
func (m *Model) queueLines(n int) []string {
	if n < 1 || len(m.queue) == 0 {
		return nil
	}
	st := m.cfg.Style
	var lines []string
	shown := m.queue[max(len(m.queue)-n, 0):]
	if more := len(m.queue) - len(shown); more > 0 && n > 1 {
		lines = append(lines, st.Quiet.Styled(theme.Cut(fmt.Sprintf("  queued: %d more", more+1), m.width)))
		shown = shown[1:]
	}
	for i, q := range shown {
		hint := m.queueHint(q.Key == m.queue[0].Key, i == len(shown)-1)
		text := theme.Cut("  queued: "+plain.Line(q.Text, 1000), m.width-ansi.StringWidth(hint))
		lines = append(lines, st.Quiet.Styled(text+hint))
	}
	return lines
}

// queueHint says what can be done with a message that waits: the first one is next, the last one can be taken back.
func (m *Model) queueHint(first, last bool) string {
	var hints []string
	if first && m.stand.Working && m.stand.Other == "" {
		hints = append(hints, "esc: now, in place of what runs")
		if m.width < roomy {
			hints[0] = "esc: now"
		}
	}
	if last {
		hints = append(hints, "alt+↑ takes it back")
	}
	if len(hints) == 0 || m.width < narrow {
		return ""
	}
	return "  (" + strings.Join(hints, ", ") + ")"
}

// lastLine is the note, if there is one, else how the session stands.
func (m *Model) lastLine() string {
	if m.note.text != "" {
		paint := m.cfg.Style.Bold
		if m.note.wrong {
			paint = m.cfg.Style.Bad
		}
		return paint.Styled(theme.Cut(plain.Line(m.note.text, 2000), m.width))
	}
	if m.page == nil && !m.asking() && !m.search.on {
		switch {
		case m.in.Begins("!"):
			return m.cfg.Style.Bold.Styled(theme.Cut("! runs this here, as you; what it prints goes with your next message", m.width))
		case m.in.Begins("# "):
			return m.cfg.Style.Bold.Styled(theme.Cut("# has this remembered for the project; the model is not told now", m.width))
		}
	}
	line := statusline.View(m.status(), m.width, m.cfg.Style)
	if m.cfg.Inline {
		line = narrowed(line)
	}
	return line
}

// narrowed takes the room out of a line that parts its left from its right. A terminal that is made narrower breaks the
// lines that are too wide for it, and what it makes of them by that stays in the scrollback: so the lines of a live
// area are no wider than what they say.
func narrowed(line string) string {
	left, right, _ := strings.Cut(line, "   ")
	return strings.TrimSpace(left + "  " + strings.TrimLeft(right, " "))
}

// status is the session as the last line shows it.
func (m *Model) status() statusline.Data {
	s := m.stand
	d := statusline.Data{
		Activity: s.Activity, Frame: m.frame, WaitKey: "ctrl+o", Tasks: s.Tasks, Detached: s.Other, Work: m.working,
		Mode: s.Mode, Model: s.Model, Used: s.Used, Window: s.Window, Cost: s.Cost, Session: s.Title, Branch: s.Branch,
	}
	// What is said above is not said again.
	if elsewhere := m.page != nil || m.asking(); elsewhere || m.rows.strip == 0 {
		d.Waiting = s.Waits
	}
	if m.page != nil || m.asking() || m.rows.queue == 0 {
		d.Queued = len(m.queue)
	}
	if s.Working && !s.Since.IsZero() {
		d.Elapsed = m.cfg.Now().Sub(s.Since)
	}
	return d
}

// View draws the screen.
func (m *Model) View() tea.View {
	if m.left && m.cfg.Inline {
		return tea.NewView("") // what is in the scrollback stays, and nothing else
	}
	lines, cursor := m.screen()
	v := tea.NewView(strings.Join(lines, "\n"))
	v.Cursor = cursor
	v.AltScreen = !m.cfg.Inline || m.page != nil || m.asking() // what takes all of the screen leaves nothing behind
	v.ReportFocus = true
	return v
}

func (m *Model) screen() (lines []string, cursor *tea.Cursor) {
	if m.width < minWidth || m.height < minHeight {
		return []string{theme.Cut(fmt.Sprintf("too small: %d×%d", m.width, m.height), m.width)}, nil
	}
	switch {
	case m.page != nil:
		lines = strings.Split(m.page.View(), "\n")
		return append(lines, m.lastLine()), cursorOf(m.page)
	case m.asking():
		lines = strings.Split(m.cfg.Asks.View(), "\n")
		return append(lines, m.lastLine()), m.cfg.Asks.Cursor()
	}
	lines = append(m.talkLines(), m.foot()...)
	input := len(lines) - 1 - m.rows.input // the line in which what is written begins
	switch c := m.in.Cursor(); {
	case m.search.on:
		_, x := m.searchLine()
		cursor = theme.Cursor(x, input)
	case c != nil && !m.talk.Browsing():
		c.Y += input
		cursor = c
	}
	return lines, cursor
}

// cursorOf is a page's cursor, if it has one.
func cursorOf(p Page) *tea.Cursor {
	if c, ok := p.(interface{ Cursor() *tea.Cursor }); ok {
		return c.Cursor()
	}
	return nil
}

func (m *Model) talkLines() []string {
	if m.cfg.Inline {
		return m.liveLines()
	}
	return m.talk.Visible()
}
