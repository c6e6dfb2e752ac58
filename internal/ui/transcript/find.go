package transcript

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Find selects the next item in which words are found, upwards if back, and has them on the screen. It begins at what is
// selected, or at the bottom of the screen. False: there is none among those that are here.
func (m *Model) Find(words string, back bool) bool {
	if len(m.items) == 0 || words == "" {
		return false
	}
	step := 1
	if back {
		step = -1
	}
	i := m.index(m.lowest())
	if m.sel != nil {
		i = m.index(m.sel) + step
	}
	words = strings.ToLower(words)
	for ; i >= 0 && i < len(m.items); i += step {
		if e := m.items[i]; e.holds(words) {
			m.Select(e.ID)
			m.reveal(e, words)
			return true
		}
	}
	return false
}

// holds reports whether an item has words, which are in lower case.
func (e *entry) holds(words string) bool {
	for _, text := range []string{e.Text, e.Call.Name + " " + e.Call.About, e.Call.Output} {
		if strings.Contains(strings.ToLower(text), words) {
			return true
		}
	}
	return slices.ContainsFunc(e.Call.Diff, func(d Diff) bool {
		return strings.Contains(strings.ToLower(d.Old), words) || strings.Contains(strings.ToLower(d.New), words)
	})
}

// reveal opens an item as far as it takes to see words in it, and scrolls to them.
func (m *Model) reveal(e *entry, words string) {
	wasOpen, wasFull := e.open, e.full
	for {
		line := slices.IndexFunc(m.linesOf(e), func(l string) bool { return strings.Contains(strings.ToLower(ansi.Strip(l)), words) })
		switch {
		case line >= 0:
			m.showLine(e, line)
			return
		case !e.open:
			e.open = true
		case !e.full && e.cut:
			e.full = true
		default: // they are broken over two lines, or in what is not shown
			e.open, e.full, e.fresh = wasOpen, wasFull, false
			m.show(e)
			return
		}
		e.fresh = false
	}
}

// showLine has a line of an item on the screen.
func (m *Model) showLine(e *entry, line int) {
	i := m.index(e)
	row := m.gap(i) + line
	if begin, _ := m.extent(e); i < m.index(m.first().of) || begin+line < 0 || begin+line >= m.height {
		m.top, m.follow = m.up(i, row, m.height/3), false
		m.steady()
	}
}
