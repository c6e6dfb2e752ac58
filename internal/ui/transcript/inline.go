package transcript

import "github.com/perdure/perdure/internal/ui/theme"

// maxPrinted bounds how many items are remembered that were taken; older ones get no more news.
const maxPrinted = 20_000

// TakeSettled gives the lines of those items, from the oldest on, to which nothing more happens, and forgets the items:
// for a screen that prints what is finished once. What goes on in the background counts as finished, and so does all
// that is before the newest words of a person.
func (m *Model) TakeSettled(width int) (lines []string) {
	if width != m.width {
		m.SetSize(width, m.height)
	}
	over := -1
	for i, e := range m.items {
		if e.Kind == Person {
			over = i
		}
	}
	n := 0
	for n < len(m.items) && (n <= over || m.items[n].settled()) {
		n++
	}
	if n == 0 {
		return nil
	}
	if len(m.printed) > maxPrinted {
		clear(m.printed)
	}
	for i, e := range m.items[:n] {
		lines = m.some(lines, i, 0, m.tall(i))
		m.gone(e)
		m.printed[e.ID] = true
	}
	last := m.items[n-1].Kind
	m.lastPrinted = &last
	m.items = append([]*entry(nil), m.items[n:]...)
	m.End()
	m.sel, m.browse = nil, m.browse && len(m.items) > 0
	return lines
}

// settled reports that nothing more happens to an item.
func (e *entry) settled() bool { return !e.saying && (e.Kind != Tool || e.Call.State >= Background) }

// Tail are the last lines of what is there, at most n.
func (m *Model) Tail(n int) (lines []string) {
	if n <= 0 || len(m.items) == 0 {
		return nil
	}
	return m.below(m.bottom(n), n)
}

// Print gives all lines of all items as they are shown, at a width, the oldest first; for a terminal's scrollback.
func (m *Model) Print(width int, line func(string)) {
	was, sel := m.width, m.sel
	m.width, m.sel = width, nil
	for i, e := range m.items {
		if m.gap(i) > 0 {
			line("")
		}
		lines := e.lines
		if !e.fresh || e.width != width {
			stream := e.stream
			e.stream = nil // it stays as wide as the screen
			lines = m.draw(e)
			e.stream = stream
		}
		for _, l := range lines {
			line(theme.Cut(" "+l, width))
		}
	}
	m.width, m.sel = was, sel
}
