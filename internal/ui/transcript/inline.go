package transcript

import "github.com/perdure/perdure/internal/ui/theme"

// TakeSettled gives the lines of those items, from the oldest on, to which nothing more happens, and forgets the items:
// for a screen that prints what is finished once. What goes on in the background counts as finished.
func (m *Model) TakeSettled(width int) (lines []string) {
	m.width = width
	n := 0
	for i, e := range m.items {
		if e.stream != nil || e.Kind == Thinking && i == len(m.items)-1 || e.Kind == Tool && e.Call.State < Background {
			break
		}
		for _, l := range m.block(i) {
			lines = append(lines, theme.Cut(l, width))
		}
		if e.Kind != Tool && e.Kind != Thinking {
			lines = append(lines, "")
		}
		delete(m.known, e.ID)
		n++
	}
	if n > 0 {
		m.items = append([]*entry(nil), m.items[n:]...)
		m.top, m.follow, m.sel = place{}, true, nil
	}
	return lines
}

// Tail are the last lines of what is there, at most n.
func (m *Model) Tail(n int) []string {
	lines := m.above(n)
	for i, l := range lines {
		lines[i] = theme.Cut(l, m.width)
	}
	return lines
}
