package taskpanel

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// arrange puts the tasks that are to be shown in order: those that live, the newest first, then those that ended, the
// last first. The selected one stays selected while it is shown.
func (m *Model) arrange() {
	was := m.index()
	m.rows = m.rows[:0]
	for _, t := range m.tasks {
		if (t.State.Live() || !m.live) && matches(t, m.filter) {
			m.rows = append(m.rows, t)
		}
	}
	slices.SortStableFunc(m.rows, func(a, b Task) int {
		if al, bl := a.State.Live(), b.State.Live(); al != bl {
			if al {
				return -1
			}
			return 1
		}
		at, bt := a.Started, b.Started
		if !a.State.Live() {
			at, bt = a.Ended, b.Ended
		}
		return cmp.Or(bt.Compare(at), cmp.Compare(a.Session, b.Session), cmp.Compare(a.ID, b.ID))
	})
	now := m.index()
	switch {
	case !m.chosen:
		now = min(0, len(m.rows)-1)
	case now < 0:
		now = min(max(was, 0), len(m.rows)-1)
	}
	m.selected = Key{}
	if now >= 0 {
		m.selected = m.rows[now].Key
	}
	m.keepVisible()
}

// matches reports whether all words of a filter are somewhere in what the panel shows of a task.
func matches(t Task, filter string) bool {
	text := strings.ToLower(strings.Join([]string{t.ID, t.Name, t.Command, t.Status, t.Session, t.Dir, portText(t.Ports, 100)}, "\n"))
	for _, word := range strings.Fields(strings.ToLower(filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// index is where the selected task is among the rows; -1 if it is not.
func (m *Model) index() int {
	return slices.IndexFunc(m.rows, func(t Task) bool { return t.Key == m.selected })
}

// move selects another row.
func (m *Model) move(by int) {
	if len(m.rows) == 0 {
		return
	}
	m.chosen = true
	m.selected = m.rows[min(max(m.index()+by, 0), len(m.rows)-1)].Key
	m.keepVisible()
}

// keepVisible scrolls the list so that the selected row is on the screen.
func (m *Model) keepVisible() {
	room, i := m.layout().rows, max(m.index(), 0)
	m.top = min(m.top, max(len(m.rows)-room, 0))
	m.top = max(min(m.top, i), i-room+1, 0)
}

// label is what a person calls a task.
func label(t Task) string {
	if t.Name != "" {
		return t.Name
	}
	return t.Command
}

func portText(ports []int, most int) string {
	words := make([]string, 0, len(ports))
	for _, p := range ports[:min(len(ports), most)] {
		words = append(words, strconv.Itoa(p))
	}
	if len(ports) > most {
		words = append(words, "…")
	}
	return strings.Join(words, ",")
}
