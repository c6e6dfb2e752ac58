package taskpanel

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// The least room in which the panel makes sense, in cells.
const (
	minWidth  = 24
	minHeight = 6
)

// layout is how the height is shared out: a title, column heads, rows, a rule with the selected task's name, perhaps a
// line about it, its output, and a line of help.
type layout struct{ rows, about, tail int }

func (m *Model) layout() layout {
	const fixed, roomy = 4, 16
	left := max(m.height-fixed, 0)
	l := layout{}
	if m.height >= roomy {
		l.about = 1
		left--
	}
	switch {
	case m.large:
		l.rows = min(1, left)
	default:
		// The output gets at least half, and all that the rows do not need.
		l.rows = min(max(len(m.rows), 1), max(left/2, 1))
	}
	l.tail = max(left-l.rows, 0)
	return l
}

// View draws the panel: exactly its height in lines, none wider than its width.
func (m *Model) View() string {
	if m.width < minWidth || m.height < minHeight {
		return theme.Cut(fmt.Sprintf("too small: %d×%d", m.width, m.height), m.width)
	}
	l := m.layout()
	lines := make([]string, 0, m.height)
	lines = append(lines, m.titleLine())
	lines = append(lines, m.table(l.rows)...)
	lines = append(lines, m.ruleLine())
	if l.about > 0 {
		lines = append(lines, m.aboutLine())
	}
	if m.help {
		lines = append(lines, m.helpLines(l.tail)...)
	} else {
		lines = append(lines, m.tailLines(l.tail)...)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:m.height-1], m.footLine())
	for i, line := range lines {
		lines[i] = theme.Cut(line, m.width)
	}
	return strings.Join(lines, "\n")
}

// titleLine counts, and says what all tasks use together.
func (m *Model) titleLine() string {
	live, ended, failed := 0, 0, 0
	share, rss := 0.0, int64(0)
	for _, t := range m.tasks {
		switch {
		case t.State.Live():
			live++
		case t.State == Failed || t.State == Lost:
			failed++
		default:
			ended++
		}
		share, rss = share+m.percent[t.Key].share, rss+t.RSS
	}
	left := m.style.Title.Styled(" Tasks")
	if m.cfg.Title != "" && m.width >= 60 {
		left += m.style.Quiet.Styled(" of " + plain.Shown(m.cfg.Title, 40))
	}
	if m.listed {
		left += "  " + m.style.Good.Styled(fmt.Sprint(live, " running"))
		if failed > 0 {
			left += "  " + m.style.Bad.Styled(fmt.Sprint(failed, " failed"))
		}
		if ended > 0 {
			left += m.style.Quiet.Styled(fmt.Sprint("  ", ended, " ended"))
		}
	}
	right := ""
	switch {
	case m.failure != "":
		right = m.style.Bad.Styled(plain.Line(m.failure, m.width))
	case m.filter.Text != "" && m.mode != filtering:
		right = m.style.Accent.Styled("/" + plain.Line(m.filter.Text, 30))
	case m.live:
		right = m.style.Quiet.Styled("running only")
	case live > 0:
		right = m.style.Quiet.Styled(fmt.Sprintf("%s cpu  %s", percentText(share), sizeText(rss)))
	}
	gap := m.width - ansi.StringWidth(left) - ansi.StringWidth(right) - 1
	switch {
	case gap > 0:
		return left + strings.Repeat(" ", gap) + right
	case m.failure != "":
		return " " + right // that it cannot be looked at comes before what was seen
	}
	return left
}

// ruleLine divides list and output, and names whose output it is.
func (m *Model) ruleLine() string {
	t, ok := m.Selected()
	text := ""
	if ok {
		text = " " + plain.Shown(t.ID+" "+label(t), m.width) + " "
	}
	end := ""
	switch {
	case !ok:
	case m.tail.back > 0:
		end = " paused, " + plain.Count(int64(m.tail.back), "line") + " below "
	case t.State.Live():
		end = " following "
	}
	room := m.width - ansi.StringWidth(end) - 4
	text = theme.CutTo(text, max(room, 0), "… ")
	rule := max(m.width-2-ansi.StringWidth(text)-ansi.StringWidth(end)-1, 0)
	return m.style.Quiet.Styled("──") + m.style.Bold.Styled(text) + m.style.Quiet.Styled(strings.Repeat("─", rule)+end+"─")
}

// aboutLine says of the selected task what has no column.
func (m *Model) aboutLine() string {
	t, ok := m.Selected()
	if !ok {
		return ""
	}
	var words []string
	if t.PID > 0 {
		words = append(words, fmt.Sprint("pid ", t.PID))
	}
	if t.Processes > 1 {
		words = append(words, fmt.Sprint(t.Processes, " processes"))
	}
	if t.Attempt > 1 {
		words = append(words, fmt.Sprint("attempt ", t.Attempt))
	}
	if !t.Ended.IsZero() {
		words = append(words, "ran "+plain.Span(t.Ended.Sub(t.Started)))
	}
	words = append(words, plain.Size(t.Printed)+" printed", "session "+plain.Shown(t.Session, 128))
	if t.Dir != "" {
		words = append(words, "in "+plain.Shown(t.Dir, 200))
	}
	if t.Incomplete != "" {
		words = append([]string{plain.Line(t.Incomplete, 200)}, words...)
	}
	return m.style.Quiet.Styled(theme.Cut("  "+strings.Join(words, " · "), m.width))
}

// tailLines is the output.
func (m *Model) tailLines(height int) []string {
	if height < 1 {
		return nil
	}
	v := &m.tail
	t, ok := m.Selected()
	quietly := func(s string) []string { return []string{m.style.Quiet.Styled("  " + s)} }
	switch {
	case !ok || v.key != t.Key:
		return nil
	case v.err != "":
		return quietly("no output: " + plain.Line(v.err, 200))
	case !v.known:
		return nil
	case v.end == 0:
		return quietly("nothing printed yet")
	}
	rows, _ := v.visible(m.width-2, height)
	for i, row := range rows {
		rows[i] = "  " + row
	}
	return rows
}

// footLine is what a key does next.
func (m *Model) footLine() string {
	switch {
	case m.mode == confirming:
		const answers = " y/N"
		text := theme.Cut(" "+plain.Shown(m.ask.text, 500), m.width-len(answers))
		return m.style.Bold.Styled(text) + m.style.Bold.Styled(answers)
	case m.mode == filtering:
		line, _ := m.filterLine()
		return line
	case m.note.text != "" && m.cfg.Now().Before(m.note.until):
		style := ansi.Style{}
		if m.note.wrong {
			style = m.style.Bad
		}
		return style.Styled(" " + plain.Line(m.note.text, 1000))
	}
	return m.helpLine()
}

// filterLine is the filter as it is typed, and where the cursor stands in it.
func (m *Model) filterLine() (line string, x int) {
	return m.filter.View(m.style, " /", " enter keeps, esc clears", m.width)
}

// Cursor is where the person writes, relative to the panel; nil: they do not.
func (m *Model) Cursor() *tea.Cursor {
	if m.mode != filtering || m.width < minWidth || m.height < minHeight {
		return nil
	}
	_, x := m.filterLine()
	return theme.Cursor(x, m.height-1)
}

// percentText shows a share of one processor in at most five cells.
func percentText(share float64) string {
	p := share * 100
	switch {
	case p < 9.95:
		return fmt.Sprintf("%.1f%%", p)
	case p < 10_000:
		return fmt.Sprintf("%.0f%%", p)
	}
	return ">9k%"
}

// sizeText shows a number of bytes in at most five cells.
func sizeText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%dB", n)
	}
	v, i := float64(n)/unit, 0
	for v >= 999.5 && i < len("KMGTPE")-1 {
		v /= unit
		i++
	}
	format := "%.0f%c"
	if v < 99.95 {
		format = "%.1f%c"
	}
	return fmt.Sprintf(format, v, "KMGTPE"[i])
}
