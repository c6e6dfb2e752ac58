package transcript

// Scroll moves the view by lines, up if n is negative. It reports whether the first item is on the screen: then is the
// time to bring older ones.
func (m *Model) Scroll(n int) (first bool) {
	if len(m.items) == 0 || m.follow && n >= 0 {
		return m.AtStart()
	}
	from := m.first()
	i, row := m.index(from.of), m.row(from)
	if n <= 0 {
		m.top = m.up(i, row, -n)
	} else {
		m.top = m.down(i, row, n)
	}
	m.follow = false
	m.steady()
	return m.AtStart()
}

// down is the place n lines below another, or one in the last item.
func (m *Model) down(i, row, n int) place {
	for row += n; i < len(m.items)-1 && row >= m.tall(i); i++ {
		row -= m.tall(i)
	}
	return m.at(i, row)
}

// AtStart reports whether the first item is on the screen, or there is none.
func (m *Model) AtStart() bool { return len(m.items) == 0 || m.index(m.first().of) == 0 }

// End follows the newest item again.
func (m *Model) End() { m.follow, m.unseen, m.top = true, false, place{} }

// Begin goes to the oldest item.
func (m *Model) Begin() {
	if len(m.items) > 0 {
		m.follow, m.top = false, m.at(0, 0)
		m.steady()
	}
}

// Following reports whether the newest item stands at the bottom; unseen, whether something came since it does not.
func (m *Model) Following() (follows, unseen bool) { return m.follow, m.unseen }

// show scrolls as little as it takes to have an item on the screen, or its beginning if it is too long for that.
func (m *Model) show(e *entry) {
	i := m.index(e)
	switch begin, end := m.extent(e); {
	case begin >= 0 && end <= m.height:
		return
	case begin < 0, len(m.linesOf(e)) >= m.height:
		m.top = place{e, 0}
	default:
		m.top = m.up(i, m.tall(i), m.height)
	}
	m.follow = false
	m.steady()
}

// extent is where the lines of an item begin and end, counted from the first line on the screen: less than 0 is above
// it. What is below the screen is counted no further than that.
func (m *Model) extent(e *entry) (begin, end int) {
	top, i := m.first(), m.index(e)
	from := m.index(top.of)
	if i < from {
		return -1, 0
	}
	end = -m.row(top)
	for j := from; j < i && end <= m.height; j++ {
		end += m.tall(j)
	}
	begin = end + m.gap(i)
	return begin, begin + len(m.linesOf(e))
}
