package transcript

// maxBytes bounds the items that are held: some hours of a fast model's words, and more than anybody scrolls back without
// looking for something.
const maxBytes = 6 << 20

// Forget lets go of the oldest items if together they are over the bound, and nobody looks at older ones; half of it
// stays. through is how far the log has to be read for them, see [Item]; 0: nothing was let go of. Read as far as that,
// the log gives them as they were: what still changes stays, and so does what has changed since.
func (m *Model) Forget() (through int64) {
	if m.bytes <= m.cfg.Bytes || !m.follow || m.browse {
		return 0
	}
	visible := m.index(m.first().of)
	cut, left := 0, m.bytes
	for i := 1; i <= visible; i++ {
		left -= m.items[i-1].size
		if m.begins(i) {
			cut, through = i, m.items[i].At-1
		}
		if left <= m.cfg.Bytes/2 && cut > 0 {
			break
		}
	}
	if cut == 0 {
		return 0
	}
	kept := make([]*entry, 0, len(m.items)-cut)
	for i, e := range m.items {
		if i < cut && e.At <= through && !e.lives() {
			m.gone(e)
			continue
		}
		e.n = len(kept)
		kept = append(kept, e)
	}
	m.items = kept
	return through
}

// begins reports whether an item is the first one of what an event of the log made, so that reading as far as the one
// before gives nothing of it.
func (m *Model) begins(i int) bool {
	e, before := m.items[i], m.items[i-1]
	switch {
	case e.At <= 1 || e.saying:
		return false
	case e.Kind == Person:
		return true
	}
	return (e.Kind == Text || e.Kind == Thinking) && before.At > 0 && before.At < e.At
}

// lives reports whether more may become of an item.
func (e *entry) lives() bool { return e.saying || e.Kind == Tool && e.Call.State.Live() }
