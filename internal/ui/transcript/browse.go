package transcript

// Browse lets keys move over items, from the newest one on the screen, or ends that. The view stays.
func (m *Model) Browse(on bool) {
	if m.browse = on; !on {
		m.sel = nil
		return
	}
	if m.sel == nil && len(m.items) > 0 {
		m.sel = m.lowest()
	}
}

// lowest is the last item on the screen.
func (m *Model) lowest() *entry {
	top := m.first()
	i := m.index(top.of)
	e := m.items[i]
	for left := m.height + m.row(top); i < len(m.items) && left > m.gap(i); i++ {
		e = m.items[i]
		left -= m.tall(i)
	}
	return e
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

// Move selects another item, that many further. What is longer than the screen is read to its end before the next one
// is selected. It reports whether the first one is selected.
func (m *Model) Move(n int) (first bool) {
	if len(m.items) == 0 {
		return true
	}
	if m.sel == nil {
		m.sel = m.lowest()
	}
	begin, end := m.extent(m.sel)
	part := max(m.height/2, 1)
	switch on := begin < m.height && end > 0; {
	case n == 1 && on && end > m.height:
		m.Scroll(min(part, end-m.height))
	case n == -1 && on && begin < 0:
		m.Scroll(-min(part, -begin))
	default:
		m.sel = m.items[min(max(m.index(m.sel)+n, 0), len(m.items)-1)]
		m.show(m.sel)
	}
	return m.index(m.sel) == 0
}

// Select selects an item by its ID.
func (m *Model) Select(id string) {
	if e := m.known[id]; e != nil {
		m.sel, m.browse = e, true
		m.show(e)
	}
}

// Toggle opens or closes the selected item: closed, open, and if something is left out, open with more of it.
func (m *Model) Toggle() {
	e := m.sel
	if e == nil {
		return
	}
	m.linesOf(e)
	switch {
	case !e.open && !m.all:
		e.open = true
	case e.cut && !e.full:
		e.open, e.full = true, true
	default:
		e.open, e.full = false, false
	}
	e.fresh = false
	m.show(e)
}

// Open reports whether an item is open.
func (m *Model) Open(id string) bool { e := m.known[id]; return e != nil && (e.open || m.all) }

// ToggleAll opens everything, or closes what was not opened by itself.
func (m *Model) ToggleAll() {
	m.all = !m.all
	for _, e := range m.items {
		e.fresh = false
	}
	if m.sel != nil {
		m.show(m.sel)
	}
}

// near is how many items at the end are looked at for what changes by itself.
const near = 50

// OpenLive are the acts of calls that run and are open, near the end: their output is worth looking at.
func (m *Model) OpenLive() (acts []string) {
	for _, e := range m.items[max(len(m.items)-near, 0):] {
		if e.Kind == Tool && (e.Call.State == Running || e.Call.State == Background) && (e.open || m.all) {
			acts = append(acts, e.Call.Act)
		}
	}
	return acts
}

// Ticks reports whether something changes with time alone.
func (m *Model) Ticks() bool {
	for _, e := range m.items[max(len(m.items)-near, 0):] {
		if e.Kind == Tool && e.Call.State == Running {
			return true
		}
	}
	return false
}
