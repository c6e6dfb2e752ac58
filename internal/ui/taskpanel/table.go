package taskpanel

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// column is one column of the list.
type column struct {
	head  string
	width int
	right bool
	text  func(Task) string
	style func(Task) ansi.Style
}

// The blanks of a row: before it, where the selected one is marked, and between columns.
const marker, between = 2, 2

// columns are those for which there is room. What matters least goes first as the panel gets narrower, and the label
// gets what the others leave.
func (m *Model) columns() []column {
	none := func(Task) ansi.Style { return ansi.Style{} }
	quiet := func(Task) ansi.Style { return m.style.Quiet }
	longest := func(head string, most int, text func(Task) string) int {
		n := ansi.StringWidth(head)
		for _, t := range m.rows {
			n = max(n, ansi.StringWidth(text(t)))
		}
		return min(n, most)
	}
	w := m.width
	cols := []column{{head: "TASK", text: func(t Task) string { return plain.Shown(t.ID, 20) }, style: none}}
	cols[0].width = longest("TASK", 9, cols[0].text)
	several := false
	for _, t := range m.rows {
		several = several || t.Session != m.rows[0].Session
	}
	if w >= 120 && several {
		const prefix = 13 // the time in an id: enough to name the session by
		session := func(t Task) string { return plain.Shown(t.Session[:min(len(t.Session), prefix)], prefix) }
		cols = append([]column{{head: "SESSION", width: longest("SESSION", prefix, session), text: session, style: quiet}}, cols...)
	}
	status := column{head: "STATUS", text: m.statusText, style: m.statusStyle}
	status.width = longest(status.head, min(max(w/5, 11), 24), status.text)
	cols = append(cols, status)
	cols = append(cols, column{head: "AGE", width: 4, right: true, text: m.ageText, style: none})
	if w >= 50 {
		cols = append(cols, column{head: "CPU", width: 5, right: true, text: m.cpuText, style: m.cpuStyle})
	}
	if w >= 64 {
		cols = append(cols, column{head: "MEM", width: 5, right: true, text: memText, style: none})
	}
	if w >= 72 {
		cols = append(cols, column{head: "NEW", width: 5, right: true, text: m.unreadText, style: func(Task) ansi.Style { return m.style.Accent }})
	}
	if w >= 84 {
		text := func(t Task) string { return portText(t.Ports, 3) }
		cols = append(cols, column{head: "PORTS", width: longest("PORTS", 17, text), text: text, style: none})
	}
	name := func(t Task) string { return plain.Shown(t.Name, 40) }
	const worth = 24 // cells for commands, or there is no column for names
	left := w - marker
	for _, c := range cols {
		left -= c.width + between
	}
	if n := longest("", 20, name); n > 0 && left-max(n, 4)-between >= worth {
		cols = append(cols, column{head: "NAME", width: max(n, 4), text: name, style: none})
		return append(cols, column{head: "COMMAND", text: func(t Task) string { return plain.Shown(t.Command, 1000) }, style: quiet})
	}
	return append(cols, column{head: "COMMAND", text: func(t Task) string { return plain.Shown(label(t), 1000) }, style: none})
}

// table draws the column heads and so many rows.
func (m *Model) table(rows int) []string {
	cols := m.columns()
	last := &cols[len(cols)-1]
	last.width = m.width - marker
	for _, c := range cols[:len(cols)-1] {
		last.width -= c.width + between
	}
	last.width = max(last.width, 0)
	head := make([]string, len(cols))
	for i, c := range cols {
		head[i] = c.cell(c.head)
	}
	lines := []string{m.style.Quiet.Styled("  " + strings.TrimRight(strings.Join(head, "  "), " "))}
	if len(m.rows) == 0 {
		return append(lines, m.style.Quiet.Styled("  "+m.nothing()))
	}
	from, to := m.list.Visible()
	for i := from; i < min(to, from+rows); i++ {
		lines = append(lines, m.row(m.rows[i], cols, i == m.list.At()))
	}
	return lines
}

func (m *Model) row(t Task, cols []column, selected bool) string {
	cells := make([]string, len(cols))
	for i, c := range cols {
		style := c.style(t)
		switch {
		case selected:
			style = style.Bold()
		case !t.State.Live() && c.head != "STATUS":
			style = m.style.Quiet
		}
		cells[i] = styled(style, c.cell(c.text(t)))
	}
	mark := strings.Repeat(" ", marker)
	if selected {
		mark = m.style.Accent.Styled("▌ ")
	}
	return mark + strings.Join(cells, "  ")
}

// styled leaves blanks alone.
func styled(style ansi.Style, s string) string {
	if len(style) == 0 || strings.TrimSpace(s) == "" {
		return s
	}
	return style.Styled(s)
}

func (c column) cell(s string) string {
	if c.right {
		return theme.FitRight(s, c.width)
	}
	return theme.Fit(s, c.width)
}

// nothing says why the list is empty.
func (m *Model) nothing() string {
	switch {
	case !m.listed:
		return "looking…"
	case m.filter.Text != "":
		return "no task matches; esc shows all"
	case m.live && len(m.tasks) > 0:
		return "nothing runs; e shows those that have ended"
	}
	return "no tasks: perdure task run -- COMMAND starts one"
}

func (m *Model) statusText(t Task) string {
	if doing := m.busy[t.Key]; doing != "" {
		return "◌ " + doing
	}
	mark := map[State]string{Running: "●", Straggling: "◍", Succeeded: "✓", Failed: "✗", Killed: "■", Lost: "?"}[t.State]
	return mark + " " + plain.Shown(t.Status, 60)
}

func (m *Model) statusStyle(t Task) ansi.Style {
	if m.busy[t.Key] != "" {
		return m.style.Warn
	}
	switch t.State {
	case Running:
		return m.style.Good
	case Straggling, Killed:
		return m.style.Warn
	case Failed:
		return m.style.Bad
	case Lost:
		return m.style.Odd
	case Succeeded:
	}
	return m.style.Quiet
}

func (m *Model) ageText(t Task) string {
	if t.Started.IsZero() {
		return ""
	}
	return plain.Span(m.cfg.Now().Sub(t.Started))
}

func (m *Model) cpuText(t Task) string {
	if u := m.percent[t.Key]; u.known && t.State.Live() {
		return percentText(u.share)
	}
	return ""
}

// cpuStyle points at what keeps a processor busy.
func (m *Model) cpuStyle(t Task) ansi.Style {
	const busy = 0.8
	if m.percent[t.Key].share >= busy {
		return m.style.Warn
	}
	return ansi.Style{}
}

func memText(t Task) string {
	if t.RSS == 0 {
		return ""
	}
	return sizeText(t.RSS)
}

// unreadText leaves out what is on the screen.
func (m *Model) unreadText(t Task) string {
	if t.Unread <= 0 || m.isSelected(t) && m.tail.back == 0 {
		return ""
	}
	return sizeText(t.Unread)
}
