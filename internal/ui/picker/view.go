package picker

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// The least room in which the picker makes sense, in cells.
const (
	minWidth  = 24
	minHeight = 6
)

// layout is how the height is shared out: a title, the words of the search, the rows, a rule with the selected one's name
// and its preview, a line of keys.
type layout struct{ rows, preview int }

func (m *Model) layout() layout {
	const fixed, most = 4, 14 // title, search, rule, keys
	left := max(m.height-fixed, 0)
	l := layout{preview: min(left/2, most)}
	l.rows = left - l.preview
	return l
}

// View draws the page: exactly its height in lines, none wider than its width.
func (m *Model) View() string {
	if m.width < minWidth || m.height < minHeight {
		return strings.Join(theme.Block([]string{fmt.Sprintf("too small: %d×%d", m.width, m.height)}, m.width, m.height), "\n")
	}
	l := m.layout()
	lines := make([]string, 0, m.height)
	search, _ := m.searchLine()
	lines = append(lines, m.titleLine(), search)
	lines = append(lines, theme.Block(m.table(l.rows), m.width, l.rows)...)
	lines = append(lines, m.ruleLine())
	told := m.noteLines()
	below := append(told, m.previewLines(l.preview-len(told))...)
	if m.help {
		below = m.helpLines()
	}
	lines = append(lines, theme.Block(below, m.width, l.preview)...)
	lines = append(lines, m.footLine())
	return strings.Join(theme.Block(lines, m.width, m.height), "\n")
}

// titleLine says what is listed.
func (m *Model) titleLine() string {
	s := m.cfg.Styles
	left := s.Title.Styled(" Resume")
	switch {
	case m.query.All:
		left += s.Quiet.Styled("  all directories")
	default:
		left += s.Quiet.Styled("  " + plain.Line(m.cfg.Here, 60))
	}
	right := ""
	switch {
	case m.failure != "":
		right = s.Bad.Styled(plain.Line(m.failure, m.width/2))
	case !m.known:
		right = s.Quiet.Styled("looking…")
	case m.next != "" || m.looking:
		right = s.Quiet.Styled(fmt.Sprintf("%d of %d+", m.list.At()+1, len(m.rows)))
	case len(m.rows) > 0:
		right = s.Quiet.Styled(fmt.Sprintf("%d of %d", m.list.At()+1, len(m.rows)))
	}
	room := m.width - ansi.StringWidth(right) - 2
	return theme.Fit(left, room) + " " + right
}

// column is one of the list.
type column struct {
	width int
	right bool
	text  func(Row) string
	style func(Row) ansi.Style
}

// columns are those for which there is room; the title gets what the others leave. Nothing in them depends on how many
// rows there are.
func (m *Model) columns() (before, after []column) {
	s := m.cfg.Styles
	quiet := func(Row) ansi.Style { return s.Quiet }
	before = []column{{width: 2, text: func(r Row) string { return mark(r.State) }, style: m.stateStyle}}
	if m.width >= 60 {
		before[0].width, before[0].text = 13, func(r Row) string { return mark(r.State) + " " + plain.Line(r.Status, 20) }
	}
	age := func(r Row) string { return plain.Span(max(m.cfg.Now().Sub(r.Updated), 0)) }
	after = append(after, column{width: 4, right: true, text: age, style: quiet})
	if m.width >= 72 {
		after = append(after, column{width: 8, right: true, text: func(r Row) string { return plain.Line(r.Cost, 12) }, style: quiet})
	}
	if m.width >= 66 {
		tasks := func(r Row) string {
			if r.Tasks == 0 {
				return ""
			}
			return fmt.Sprintf("%d⚙", min(r.Tasks, 999))
		}
		after = append(after, column{width: 4, right: true, text: tasks, style: func(Row) ansi.Style { return s.Good }})
	}
	if m.width >= 80 {
		after = append(after, column{width: min(m.width/7, 20), text: func(r Row) string { return plain.Line(r.Branch, 60) }, style: func(Row) ansi.Style { return s.Accent }})
	}
	if m.query.All && m.width >= 56 {
		after = append(after, column{width: m.width / 5, text: func(r Row) string { return theme.End(plain.Line(r.Dir, 400), m.width/5) }, style: quiet})
	}
	return before, after
}

// table draws the rows that are on screen.
func (m *Model) table(height int) []string {
	if len(m.rows) == 0 {
		var lines []string
		for _, l := range m.nothing() {
			lines = append(lines, m.cfg.Styles.Quiet.Styled("  "+l))
		}
		return lines
	}
	before, after := m.columns()
	left := m.width - 2
	for _, c := range append(before[:len(before):len(before)], after...) {
		left -= c.width + 1
	}
	text := func(r Row) string {
		if r.Found == "" {
			return plain.Line(r.Title, 400)
		}
		return theme.Cut(plain.Line(r.Title, 400), left/2) + "  " + plain.Line(r.Found, 400)
	}
	title := column{width: max(left, 1), text: text, style: func(Row) ansi.Style { return ansi.Style{} }}
	cols := append(append(before, title), after...)
	var lines []string
	from, to := m.list.Visible()
	for i := from; i < min(to, from+height); i++ {
		lines = append(lines, m.row(m.rows[i], cols, i == m.list.At()))
	}
	return lines
}

func (m *Model) row(r Row, cols []column, selected bool) string {
	cells := make([]string, len(cols))
	for i, c := range cols {
		text := theme.Fit(c.text(r), c.width)
		if c.right {
			text = theme.FitRight(c.text(r), c.width)
		}
		style := c.style(r)
		if selected {
			style = style.Bold()
		}
		if len(style) > 0 && strings.TrimSpace(text) != "" && (selected && len(m.cfg.Styles.Bold) > 0 || !selected) {
			text = style.Styled(text)
		}
		cells[i] = text
	}
	lead := "  "
	if selected {
		lead = m.cfg.Styles.Accent.Styled("▌ ")
	}
	return lead + strings.Join(cells, " ")
}

func mark(s State) string {
	return [...]string{Idle: "·", Working: "●", Waiting: "?", Broken: "!", Over: "–"}[s]
}

func (m *Model) stateStyle(r Row) ansi.Style {
	s := m.cfg.Styles
	switch r.State {
	case Working:
		return s.Good
	case Waiting:
		return s.Warn
	case Broken:
		return s.Bad
	case Idle, Over:
	}
	return s.Quiet
}

// nothing says why the list is empty, and what helps.
func (m *Model) nothing() []string {
	switch {
	case m.failure != "":
		return []string{"the sessions cannot be read"}
	case m.looking:
		return []string{"looking…"}
	case m.query.Words != "" && !m.query.All:
		return []string{"nothing in this directory has these words", "tab searches all directories, esc clears"}
	case m.query.Words != "":
		return []string{"no session has all of these words", "fewer words may find it, esc clears"}
	case !m.query.All:
		return []string{"no session in this directory; tab shows all"}
	}
	return []string{"there is no session yet"}
}
