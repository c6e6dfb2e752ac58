package taskpanel

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/ui/list"
)

// arrange puts the tasks that are to be shown in order: those that live, the newest first, then those that ended, the
// last first. The selected one stays selected while it is shown.
func (m *Model) arrange() {
	m.rows = m.rows[:0]
	for _, t := range m.tasks {
		if (t.State.Live() || !m.live) && matches(t, m.filter.Text) {
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
	m.list.Set(len(m.rows), func(i int) (Key, bool) { return m.rows[i].Key, true })
	if !m.chosen {
		m.list.First()
	}
	m.keepVisible()
}

// matches reports whether all words of a filter are somewhere in what the panel shows of a task.
func matches(t Task, filter string) bool {
	return list.Matches(filter, t.ID, t.Name, t.Command, t.Status, t.Session, t.Dir, portText(t.Ports, 100))
}

// move selects another row.
func (m *Model) move(by int) {
	m.list.Move(by)
	m.chosen = len(m.rows) > 0
}

// keepVisible scrolls the list so that the selected row is on the screen.
func (m *Model) keepVisible() { m.list.Room(m.layout().rows) }

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
