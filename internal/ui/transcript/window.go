package transcript

import (
	"strings"

	"github.com/perdure/perdure/internal/ui/theme"
)

// place is a line of an item; -1 is the blank one before it, if it has one.
type place struct {
	of   *entry
	line int
}

// gap is how many blank lines stand before an item.
func (m *Model) gap(i int) int {
	switch {
	case i > 0:
		return between(m.items[i-1].Kind, m.items[i].Kind)
	case m.lastPrinted != nil:
		return between(*m.lastPrinted, m.items[i].Kind)
	}
	return 0
}

func between(was, is Kind) int {
	quiet := func(k Kind) bool { return k == Tool || k == Thinking || k == Note }
	if quiet(was) && quiet(is) {
		return 0
	}
	return 1
}

// tall is how many lines an item has, with the blank one before it.
func (m *Model) tall(i int) int { return m.gap(i) + len(m.linesOf(m.items[i])) }

// row is the number of a place among the lines of its item, the blank one counted; always one that there is.
func (m *Model) row(p place) int {
	i := m.index(p.of)
	return min(max(p.line+m.gap(i), 0), max(m.tall(i)-1, 0))
}

// at is the place with that number among the lines of an item.
func (m *Model) at(i, row int) place { return place{m.items[i], row - m.gap(i)} }

// real has the first line on the screen be one that there is, after its item or the one before has changed.
func (m *Model) real() {
	if !m.follow {
		m.top = m.at(m.index(m.top.of), m.row(m.top))
	}
}

// some adds lines of an item to a list, from one row to before another.
func (m *Model) some(out []string, i, from, to int) []string {
	e, gap := m.items[i], m.gap(i)
	lines := m.linesOf(e)
	mark := " "
	if m.browse && m.sel == e {
		mark = m.cfg.Style.Accent.Styled("▌")
	}
	for row := from; row < to; row++ {
		if row < gap {
			out = append(out, "")
		} else {
			out = append(out, theme.Cut(mark+lines[row-gap], m.width))
		}
	}
	return out
}

// below are at most n lines from a place on.
func (m *Model) below(p place, n int) (lines []string) {
	from := m.row(p)
	for i := m.index(p.of); i < len(m.items) && len(lines) < n; i++ {
		tall := m.tall(i)
		lines = m.some(lines, i, from, min(tall, from+n-len(lines)))
		from = 0
	}
	return lines
}

// up is the place n lines above another, or the first one.
func (m *Model) up(i, row, n int) place {
	for row -= n; row < 0 && i > 0; {
		i--
		row += m.tall(i)
	}
	return m.at(i, max(row, 0))
}

// bottom is the place of the first line on the screen when the newest stands at the bottom.
func (m *Model) bottom(height int) place {
	last := len(m.items) - 1
	return m.up(last, m.tall(last), height)
}

// first is the place of the first line on the screen. There is at least one item.
func (m *Model) first() place {
	if !m.follow {
		return m.top
	}
	return m.bottom(m.height)
}

// under reports whether there are n lines from a place on.
func (m *Model) under(p place, n int) bool {
	n += m.row(p)
	for i := m.index(p.of); i < len(m.items) && n > 0; i++ {
		n -= m.tall(i)
	}
	return n <= 0
}

// steady follows again if nothing is left below the screen.
func (m *Model) steady() {
	if !m.follow && !m.under(m.top, m.height+1) {
		m.End()
	}
}

// SetSize gives it its room, in cells. What stands at the top stays there as nearly as can be.
func (m *Model) SetSize(width, height int) {
	if width == m.width && height == m.height {
		return
	}
	if !m.follow && width != m.width && m.width > 0 && m.top.line > 0 {
		was := len(m.linesOf(m.top.of))
		m.width = width
		m.top.line = m.top.line * len(m.linesOf(m.top.of)) / max(was, 1)
	}
	m.width, m.height = width, height
	if m.browse && m.sel != nil && m.width > 0 && m.height > 0 {
		m.show(m.sel)
	}
}

// View draws exactly as many lines as there is room for.
func (m *Model) View() string { return strings.Join(m.Visible(), "\n") }

// Visible are the lines on the screen: exactly as many as there is room for, the newest at the bottom.
func (m *Model) Visible() []string {
	if m.height <= 0 || m.width <= 0 {
		return nil
	}
	var lines []string
	if len(m.items) > 0 {
		m.steady()
		lines = m.below(m.first(), m.height)
	}
	if missing := m.height - len(lines); missing > 0 {
		lines = append(make([]string, missing, m.height), lines...)
	}
	return lines
}
