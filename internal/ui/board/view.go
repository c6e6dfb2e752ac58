package board

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// The least room in which the board makes sense, in cells.
const (
	minWidth  = 24
	minHeight = 6
)

// layout is how the height is shared out: a title, the list, a rule with the selected session's name and its newest, a
// line of keys.
type layout struct{ rows, peek int }

func (m *Model) layout() layout {
	const fixed, most = 3, 16 // title, rule, keys
	left := max(m.height-fixed, 0)
	l := layout{peek: min(left*2/5, most)}
	l.rows = left - l.peek
	return l
}

// View draws the page: exactly its height in lines, none wider than its width.
func (m *Model) View() string {
	if m.width < minWidth || m.height < minHeight {
		return strings.Join(theme.Block([]string{fmt.Sprintf("too small: %d×%d", m.width, m.height)}, m.width, m.height), "\n")
	}
	l := m.layout()
	lines := make([]string, 0, m.height)
	lines = append(lines, m.titleLine())
	lines = append(lines, theme.Block(m.table(l.rows), m.width, l.rows)...)
	lines = append(lines, m.ruleLine())
	below := m.peekLines
	if m.help {
		below = func(int) []string { return m.helpLines() }
	}
	lines = append(lines, theme.Block(below(l.peek), m.width, l.peek)...)
	lines = append(lines, m.footLine())
	return strings.Join(theme.Block(lines, m.width, m.height), "\n")
}

// titleLine counts.
func (m *Model) titleLine() string {
	s := m.cfg.Styles
	left := s.Title.Styled(" Sessions")
	if m.listed {
		for g, style := range []ansi.Style{Waits: s.Warn, Works: s.Good, News: s.Accent, Rests: s.Quiet} {
			if m.counts[g] > 0 {
				left += "  " + style.Styled(fmt.Sprintf("%d %s", m.counts[g], Group(g)))
			}
		}
	}
	right := ""
	switch {
	case m.failure != "":
		return theme.Fit(s.Bad.Styled(" "+plain.Line(m.failure, m.width)), m.width)
	case m.words != "" && m.mode != filtering:
		right = s.Accent.Styled("/"+plain.Line(m.words, 30)) + " "
	}
	return theme.Fit(left, m.width-ansi.StringWidth(right)) + right
}

// table draws the lines that are on screen.
func (m *Model) table(height int) []string {
	s := m.cfg.Styles
	if len(m.lines) == 0 {
		why := "no session yet: n starts one in the background"
		switch {
		case !m.listed:
			why = "looking…"
		case m.words != "":
			why = "no session has these words; esc shows all"
		}
		return []string{s.Quiet.Styled("  " + why)}
	}
	var out []string
	from, to := m.list.Visible()
	for i := from; i < min(to, from+height); i++ {
		l := m.lines[i]
		if l.row == nil {
			out = append(out, s.Bold.Styled(" "+l.head.String()))
			continue
		}
		row := m.row(l.row, i == m.list.At())
		if l.extra > 0 {
			row = theme.Cut(row, m.width-16) + s.Quiet.Styled(fmt.Sprintf(" and %d more", l.extra))
		}
		out = append(out, row)
	}
	return out
}

func (m *Model) row(r *Row, selected bool) string {
	s := m.cfg.Styles
	styled := func(st ansi.Style, text string) string {
		if len(st) == 0 || strings.TrimSpace(text) == "" {
			return text
		}
		return st.Styled(text)
	}
	lead := "  "
	title := ansi.Style{}
	if selected {
		lead, title = s.Accent.Styled("▌ "), s.Bold
	}
	status := plain.Line(r.Status, 20)
	if doing := m.busy[r.ID]; doing != "" {
		status = doing + "…"
	}
	left := m.width - 2
	cells := []string{}
	add := func(width int, text string, st ansi.Style, right bool) {
		fit := theme.Fit
		if right {
			fit = theme.FitRight
		}
		left -= width + 1
		cells = append(cells, styled(st, fit(text, width)))
	}
	add(11, status, m.groupStyle(r.Group), false)
	age := plain.Span(max(m.cfg.Now().Sub(r.Since), 0))
	add(4, age, s.Quiet, true)
	if m.width >= 100 {
		add(8, plain.Line(r.Cost, 12), s.Quiet, true)
		add(m.width/5, theme.End(plain.Line(r.Dir, 400), m.width/5), s.Quiet, false)
	}
	text := styled(title, plain.Line(r.Title, 400))
	if r.About != "" {
		text = theme.Cut(text, max(left/2, 12)) + "  " + styled(s.Warn, "▲ ") + plain.Line(r.About, 400)
	}
	bg := " "
	if r.Background {
		bg = "&"
	}
	rest := ""
	for _, c := range cells[2:] {
		rest += " " + c
	}
	return lead + cells[0] + " " + cells[1] + " " + styled(s.Quiet, bg) + " " + theme.Fit(text, max(left-2, 0)) + rest
}

func (m *Model) groupStyle(g Group) ansi.Style {
	s := m.cfg.Styles
	switch g {
	case Waits:
		return s.Warn
	case Works:
		return s.Good
	case News:
		return s.Accent
	case Rests, groupsN:
	}
	return s.Quiet
}

// ruleLine divides list and peek, and names whose it is.
func (m *Model) ruleLine() string {
	s := m.cfg.Styles
	text, end := "", ""
	if r, ok := m.Selected(); ok {
		text = " " + plain.Line(r.ID+"  "+r.Title, m.width) + " "
		if m.peek.peek.Live {
			end = " live "
		}
	}
	text = theme.CutTo(text, max(m.width-4-len(end), 0), "… ")
	rule := max(m.width-3-ansi.StringWidth(text)-len(end), 0)
	return s.Quiet.Styled("──") + s.Bold.Styled(text) + s.Quiet.Styled(strings.Repeat("─", rule)+end+"─")
}

// peekLines are the newest words of the selected session: the end of what it says is what has room.
func (m *Model) peekLines(height int) []string {
	s := m.cfg.Styles
	v := &m.peek
	switch {
	case m.selected() == "" || height < 1:
		return nil
	case !v.seen:
		return []string{s.Quiet.Styled("  looking…")}
	case v.err != "":
		return []string{s.Bad.Styled("  " + plain.Line(v.err, 400))}
	}
	var lines []string
	if v.peek.Asked != "" && height > 3 {
		lines = append(lines, s.Person.Styled("  > "+theme.Cut(plain.Line(v.peek.Asked, 400), max(m.width-5, 0))))
	}
	doing := v.peek.Doing[:min(len(v.peek.Doing), max(height/3, 1))]
	room := height - len(lines) - len(doing)
	lines = append(lines, m.lastLines(v.peek.Said, m.width-3, room)...)
	for _, d := range doing {
		lines = append(lines, s.Accent.Styled("  · ")+plain.Line(d, 400))
	}
	return lines
}

// lastLines are the newest lines of what the model says, drawn as the Markdown that it is.
func (m *Model) lastLines(text string, width, height int) []string {
	const most = 8 << 10 // bytes: more is never on the screen
	if over := len(text) - most; over > 0 {
		text = strings.ToValidUTF8(text[over:], "")
		if half := strings.IndexByte(text, '\n'); half >= 0 && half < most/8 { // half a line could be read in another way
			text = text[half+1:]
		}
	}
	lines := m.said.Lines(strings.TrimSpace(text), max(width, 8))
	lines = lines[max(len(lines)-max(height, 0), 0):]
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}

// keys are what can be pressed, the most useful first.
var keys = [...]struct{ press, does, long string }{
	{"enter", "open", "open the session: look on while it runs, or go on in it"},
	{"a", "answer", "answer what waits in it"},
	{"n", "new", "start another one in the background, in this directory"},
	{"p", "pause", "let it start nothing new; what runs it in the background ends"},
	{"x", "end", "close it: it is done, and kept; asks first"},
	{"/", "filter", "show sessions that have all words; esc shows all"},
	{"q", "leave", "leave; sessions run on"},
	{"?", "help", "this, and back"},
}

func (m *Model) helpLines() []string {
	var lines []string
	for _, k := range keys {
		lines = append(lines, "  "+m.cfg.Styles.Accent.Styled(theme.Fit(k.press, 6))+" "+k.long)
	}
	return append(lines, m.cfg.Styles.Quiet.Styled("  & runs in the background, without a terminal"))
}

// footLine is what a key does next.
func (m *Model) footLine() string {
	s := m.cfg.Styles
	switch {
	case m.mode == confirming:
		const answers = " y/N"
		return s.Bold.Styled(theme.Cut(" Close session "+plain.Line(m.sure, 128)+"? What runs it ends.", m.width-len(answers))) + s.Bold.Styled(answers)
	case m.mode != browsing:
		line, _ := m.writingLine()
		return line
	case m.note.text != "" && m.cfg.Now().Before(m.note.until):
		style := ansi.Style{}
		if m.note.wrong {
			style = s.Bad
		}
		return style.Styled(" " + plain.Line(m.note.text, 1000))
	}
	list := make([]theme.Key, len(keys))
	for i, k := range keys {
		list[i] = theme.Key{Press: k.press, Does: k.does}
	}
	return s.Keys(list, m.width)
}

// writingLine is what is being written, and where the cursor stands in it.
func (m *Model) writingLine() (line string, x int) {
	if m.mode == filtering {
		return m.field.View(m.cfg.Styles, " /", " enter keeps, esc clears", m.width)
	}
	return m.field.View(m.cfg.Styles, " new: ", "", m.width)
}

// Cursor is where the person writes, relative to the page; nil: they do not.
func (m *Model) Cursor() *tea.Cursor {
	if m.mode != filtering && m.mode != writing || m.width < minWidth || m.height < minHeight {
		return nil
	}
	_, x := m.writingLine()
	return theme.Cursor(x, m.height-1)
}
