package chat

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

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
)

// layout gives every part its room.
func (m *Model) layout() {
	if m.width <= 0 || m.height <= 0 {
		return
	}
	height := m.height
	if m.cfg.Inline {
		height = min(height, inlineLines)
	}
	m.in.SetSize(m.width, max(min(maxInput, height/2), 1))
	if m.cfg.Asks != nil {
		if m.asking() {
			m.cfg.Asks.SetSize(m.width, max(m.height-1, 1))
		} else {
			m.cfg.Asks.SetSize(m.width, m.strip())
		}
	}
	if m.page != nil {
		m.page.SetSize(m.width, max(m.height-1, 1))
	}
	m.talk.SetSize(m.width, m.talkHeight())
}

// strip is how many lines the list of what waits has while it has not the keys.
func (m *Model) strip() int {
	if m.cfg.Asks == nil || m.cfg.Asks.Waiting() == 0 {
		return 0
	}
	return m.cfg.Asks.Height(min(maxStrip, max(m.height-4, 0)))
}

// talkHeight is what is left for the conversation.
func (m *Model) talkHeight() int {
	height := m.height
	if m.cfg.Inline {
		height = min(height, inlineLines)
	}
	return max(height-len(m.foot()), 0)
}

// foot are the lines below the conversation.
func (m *Model) foot() []string {
	st := m.cfg.Style
	var lines []string
	if m.gone != nil {
		lines = append(lines, st.Bad.Styled(theme.Cut("! "+plain.Line(m.gone.Text, 1000), m.width)))
	} else if m.stand.Halted != "" && !m.stand.Working {
		lines = append(lines, st.Warn.Styled(theme.Cut("‖ "+plain.Line(m.stand.Halted, 1000), m.width)))
	}
	lines = append(lines, m.queueLines()...)
	if !m.asking() && m.strip() > 0 {
		lines = append(lines, strings.Split(m.cfg.Asks.View(), "\n")...)
	}
	lines = append(lines, m.ruleLine())
	if m.search.on {
		lines = append(lines, theme.Cut(st.Accent.Styled("find ")+m.search.text, m.width))
	} else {
		lines = append(lines, strings.Split(m.in.View(), "\n")...)
	}
	return append(lines, m.lastLine())
}

// ruleLine parts the conversation from where one writes; it says what is not on the screen.
func (m *Model) ruleLine() string {
	st, text := m.cfg.Style, ""
	switch follows, unseen := m.talk.Following(); {
	case m.talk.Browsing():
		text = " ↑↓ move  enter open  / find  y copy  w to scrollback  esc back "
	case !follows && unseen:
		text = " ↓ there is more below: shift+end "
	case !follows:
		text = " earlier: shift+end goes back "
	}
	line := text + strings.Repeat("─", max(m.width-len([]rune(text)), 0))
	return st.Quiet.Styled(theme.Cut(line, m.width))
}

// queueLines are the messages that wait for their turn.
func (m *Model) queueLines() []string {
	st := m.cfg.Style
	var lines []string
	for i, q := range m.queue {
		if i == maxQueueLines-1 && len(m.queue) > maxQueueLines {
			lines = append(lines, st.Quiet.Styled(fmt.Sprintf("  and %d more wait", len(m.queue)-i)))
			break
		}
		text := "  queued: " + plain.Line(q.Text, 1000)
		if i == len(m.queue)-1 {
			text = theme.Cut(text, max(m.width-22, 8)) + "  (alt+↑ takes it back)"
		}
		lines = append(lines, st.Quiet.Styled(theme.Cut(text, m.width)))
	}
	return lines
}

// lastLine is the note, if there is one, else how the session stands.
func (m *Model) lastLine() string {
	if m.note.text != "" {
		paint := m.cfg.Style.Accent
		if m.note.wrong {
			paint = m.cfg.Style.Bad
		}
		return paint.Styled(theme.Cut(plain.Line(m.note.text, 2000), m.width))
	}
	return statusline.View(m.status(), m.width, m.cfg.Style)
}

// status is the session as the last line shows it.
func (m *Model) status() statusline.Data {
	s := m.stand
	d := statusline.Data{
		Activity: s.Activity, Frame: m.tick, Waiting: s.Waits, WaitKey: "ctrl+o", Queued: len(m.queue), Detached: s.Other,
		Mode: s.Mode, Model: s.Model, Used: s.Used, Window: s.Window, Cost: s.Cost, Session: s.Title, Branch: s.Branch,
	}
	if s.Working && !s.Since.IsZero() {
		d.Elapsed = m.cfg.Now().Sub(s.Since)
	}
	return d
}

// View draws the screen.
func (m *Model) View() tea.View {
	lines, cursor := m.screen()
	v := tea.NewView(strings.Join(lines, "\n"))
	v.Cursor = cursor
	v.AltScreen = !m.cfg.Inline || m.page != nil || m.asking()
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
	foot := m.foot()
	lines = append(m.talkLines(), foot...)
	if c := m.in.Cursor(); c != nil && !m.search.on && !m.talk.Browsing() {
		c.Y += len(lines) - 1 - strings.Count(m.in.View(), "\n") - 1
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
