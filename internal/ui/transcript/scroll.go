package transcript

import (
	"strings"

	"github.com/perdure/perdure/internal/ui/theme"
)

// Visible are the lines on the screen: exactly as many as there is room for.
func (m *Model) Visible() []string {
	if m.height <= 0 || m.width <= 0 {
		return nil
	}
	if len(m.items) == 0 {
		return theme.Block(nil, 0, m.height)
	}
	if !m.follow {
		if lines, whole := m.below(m.top, m.height); whole {
			return m.fit(lines)
		}
		m.follow, m.unseen = true, false // nothing is left below
	}
	lines := m.above(m.height)
	return m.fit(lines)
}

// fit fills up to the height: above, so that what is newest stands at the bottom.
func (m *Model) fit(lines []string) []string {
	for i, l := range lines {
		lines[i] = theme.Cut(l, m.width)
	}
	for len(lines) < m.height {
		lines = append([]string{""}, lines...)
	}
	return lines[len(lines)-m.height:]
}

// above are the last n lines of all.
func (m *Model) above(n int) []string {
	var parts [][]string
	for i := len(m.items) - 1; i >= 0 && n > 0; i-- {
		b := m.block(i)
		if len(b) > n {
			b = b[len(b)-n:]
		}
		parts = append(parts, b)
		n -= len(b)
	}
	var out []string
	for i := len(parts) - 1; i >= 0; i-- {
		out = append(out, parts[i]...)
	}
	return out
}

// below are n lines from a place on; whole if there are as many.
func (m *Model) below(p place, n int) (lines []string, whole bool) {
	skip := p.line
	for i := m.index(p.of); i < len(m.items) && len(lines) < n; i++ {
		b := m.block(i)
		b = b[min(skip, len(b)):]
		skip = 0
		lines = append(lines, b[:min(len(b), n-len(lines))]...)
	}
	return lines, len(lines) >= n
}

// bottom is the place of the first line on the screen when the newest stands at the bottom.
func (m *Model) bottom() place {
	left := m.height
	for i := len(m.items) - 1; i >= 0; i-- {
		if t := m.tall(i); t >= left {
			return place{m.items[i], t - left}
		} else if left -= t; i == 0 {
			return place{m.items[0], 0}
		}
	}
	return place{}
}

// Scroll moves the view by lines, up if n is negative. It reports whether the first item is on the screen: then is the
// time to bring older ones.
func (m *Model) Scroll(n int) (first bool) {
	if len(m.items) == 0 {
		return true
	}
	if m.follow {
		if n > 0 {
			return false
		}
		m.top, m.follow = m.bottom(), false
	}
	i, line := m.index(m.top.of), m.top.line+n
	for line < 0 && i > 0 {
		i--
		line += m.tall(i)
	}
	for line >= m.tall(i) && i < len(m.items)-1 {
		line -= m.tall(i)
		i++
	}
	m.top = place{m.items[i], max(line, 0)}
	if last := m.bottom(); n > 0 && (m.top.of.n > last.of.n || m.top.of == last.of && m.top.line >= last.line) {
		m.End()
	}
	return i == 0
}

// End follows the newest item again.
func (m *Model) End() { m.follow, m.unseen, m.top = true, false, place{} }

// Begin goes to the oldest item.
func (m *Model) Begin() {
	if len(m.items) > 0 {
		m.follow, m.top = false, place{m.items[0], 0}
	}
}

// Following reports whether the newest item stands at the bottom; unseen, whether something came below the screen.
func (m *Model) Following() (follows, unseen bool) { return m.follow, m.unseen }

// Browse lets keys move over items, from the newest on, or ends that.
func (m *Model) Browse(on bool) {
	m.browse = on
	if on && len(m.items) > 0 && m.sel == nil {
		m.sel = m.items[len(m.items)-1]
		m.show(m.sel)
	}
	if !on {
		m.sel = nil
	}
}

// Browsing reports whether keys move over items.
func (m *Model) Browsing() bool { return m.browse }

// Selected is the item that keys act on.
func (m *Model) Selected() (Item, bool) {
	if m.sel == nil {
		return Item{}, false
	}
	return m.sel.Item, true
}

// Move selects another item, that many further. It reports whether the first one is selected.
func (m *Model) Move(n int) (first bool) {
	if len(m.items) == 0 {
		return true
	}
	if m.sel == nil {
		m.sel = m.items[len(m.items)-1]
	}
	i := min(max(m.index(m.sel)+n, 0), len(m.items)-1)
	m.sel = m.items[i]
	m.show(m.sel)
	return i == 0
}

// Select selects an item by its ID.
func (m *Model) Select(id string) {
	if e := m.known[id]; e != nil {
		m.sel, m.browse = e, true
		m.show(e)
	}
}

// show scrolls as little as it takes to have an item on the screen.
func (m *Model) show(e *entry) {
	i := m.index(e)
	if m.follow {
		if b := m.bottom(); b.of == nil || e.n > b.of.n || e == b.of && b.line <= m.gap(i) {
			return
		}
		m.follow = false
		m.top = place{e, 0}
		return
	}
	if e.n < m.top.of.n || e == m.top.of {
		m.top = place{e, 0}
		return
	}
	tall := -m.top.line
	for j := m.index(m.top.of); j <= i; j++ {
		tall += m.tall(j)
	}
	if over := tall - m.height; over > 0 {
		m.Scroll(min(over, tall-m.tall(i)))
	}
}

// Toggle opens or closes the selected item: closed, open, and if it is long, open with all of it.
func (m *Model) Toggle() {
	if e := m.sel; e != nil {
		switch {
		case !e.open:
			e.open = true
		case !e.full && e.long():
			e.full = true
		default:
			e.open, e.full = false, false
		}
		e.fresh = false
		m.show(e)
	}
}

func (e *entry) long() bool {
	return e.Kind == Tool && strings.Count(e.Call.Output, "\n") > shortOutput || e.Kind == Thinking && strings.Count(e.Text, "\n") > maxThought
}

// Open reports whether an item is open.
func (m *Model) Open(id string) bool { e := m.known[id]; return e != nil && (e.open || m.all) }

// ToggleAll opens everything, or closes what was not opened by itself.
func (m *Model) ToggleAll() {
	m.all = !m.all
	for _, e := range m.items {
		e.fresh = false
	}
}

// OpenLive are the acts of calls that run and are open, near the end: their output is worth looking at.
func (m *Model) OpenLive() (acts []string) {
	const near = 50
	for _, e := range m.items[max(len(m.items)-near, 0):] {
		if e.Kind == Tool && (e.Call.State == Running || e.Call.State == Background) && (e.open || m.all) {
			acts = append(acts, e.Call.Act)
		}
	}
	return acts
}

// Ticks reports whether something on the screen changes with time alone.
func (m *Model) Ticks() bool {
	const near = 50
	for _, e := range m.items[max(len(m.items)-near, 0):] {
		if e.Kind == Tool && e.Call.State == Running {
			return true
		}
	}
	return false
}

// Find selects the next item in which words are found, upwards if back; false: there is none among those that are here.
func (m *Model) Find(words string, back bool) bool {
	if len(m.items) == 0 || words == "" {
		return false
	}
	step := 1
	if back {
		step = -1
	}
	i := len(m.items) - 1
	if m.sel != nil {
		i = m.index(m.sel) + step
	}
	words = strings.ToLower(words)
	for ; i >= 0 && i < len(m.items); i += step {
		it := m.items[i].Item
		for _, text := range []string{it.Text, it.Call.Name + " " + it.Call.About, it.Call.Output} {
			if strings.Contains(strings.ToLower(text), words) {
				m.Select(it.ID)
				return true
			}
		}
	}
	return false
}

// Print gives all lines of all items as they are shown, at a width, the oldest first; for a terminal's scrollback.
func (m *Model) Print(width int, line func(string)) {
	was := m.width
	m.width = width
	for i := range m.items {
		for _, l := range m.block(i) {
			line(theme.Cut(l, width))
		}
	}
	m.width = was
}
