package picker

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// What comes back from the source. A number is that of the question: of an older one, the answer is dropped.
type (
	listMsg struct {
		asked int
		first bool // it is the beginning of the list
		page  Page
		err   error
	}
	previewMsg struct {
		id      string
		preview Preview
		err     error
	}
)

// ask begins a new question: the first page of what the query says now. What was asked before is given up.
func (m *Model) ask() tea.Cmd {
	m.asked++
	m.stop()
	m.next = ""
	return m.look("", true)
}

// more asks for the next page if the selected row is near the end of what is known.
func (m *Model) more() tea.Cmd {
	if m.looking || m.next == "" || len(m.rows)-m.at > ahead || len(m.rows) >= maxRows {
		return nil
	}
	return m.look(m.next, false)
}

func (m *Model) look(after string, first bool) tea.Cmd {
	ctx, stop := context.WithCancel(context.Background())
	m.stop, m.looking = stop, true
	source, q, asked := m.cfg.Source, m.query, m.asked
	return func() tea.Msg {
		defer stop()
		page, err := source.List(ctx, q, after, pageSize)
		return listMsg{asked: asked, first: first, page: page, err: err}
	}
}

// got takes a page.
func (m *Model) got(msg listMsg) tea.Cmd {
	if msg.asked != m.asked {
		return nil
	}
	m.looking, m.failure = false, ""
	if msg.err != nil {
		m.failure, m.next = msg.err.Error(), ""
		return nil
	}
	if msg.first {
		m.rows = m.rows[:0]
	}
	m.rows, m.next = append(m.rows, msg.page.Rows...), msg.page.Next
	if len(m.rows) == 0 && m.next == "" && !m.known && !m.query.All { // a directory without sessions: those of all
		m.query.All = true
		return m.ask()
	}
	m.known = true
	m.reselect()
	return tea.Batch(m.more(), m.preview())
}

// search asks for other words. Those rows that are known and have them are shown at once.
func (m *Model) search(words string) tea.Cmd {
	words = strings.TrimLeft(words, " ")
	if words == m.query.Words || len([]rune(words)) > maxWords {
		return nil
	}
	if narrower := strings.HasPrefix(words, m.query.Words); narrower {
		m.rows = slices.DeleteFunc(m.rows, func(r Row) bool { return !Matches(r, words) })
	}
	m.query.Words = words
	m.reselect()
	return tea.Batch(m.ask(), m.preview())
}

// Matches reports whether all words of a search are somewhere in what is shown of a session. Sources find rows by it.
func Matches(r Row, words string) bool {
	if words == "" {
		return true
	}
	text := strings.ToLower(strings.Join([]string{r.Title, r.First, r.Found, r.Dir, r.Branch, r.ID, r.Status}, "\n"))
	for _, word := range strings.Fields(strings.ToLower(words)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// reselect keeps the same session selected where it is shown, else the same place.
func (m *Model) reselect() {
	if i := slices.IndexFunc(m.rows, func(r Row) bool { return r.ID == m.selected }); i >= 0 {
		m.at = i
	} else {
		m.at = max(min(m.at, len(m.rows)-1), 0)
		if m.query.Words != "" {
			m.at = 0
		}
	}
	m.selected = ""
	if r, ok := m.Selected(); ok {
		m.selected = r.ID
	}
	m.keepVisible()
}

// move selects another row.
func (m *Model) move(by int) tea.Cmd {
	if len(m.rows) == 0 {
		return nil
	}
	m.at = max(min(m.at+by, len(m.rows)-1), 0)
	m.selected = m.rows[m.at].ID
	m.keepVisible()
	return tea.Batch(m.more(), m.preview())
}

// keepVisible scrolls the list so that the selected row is on the screen.
func (m *Model) keepVisible() {
	room := max(m.layout().rows, 1)
	m.top = max(min(m.top, len(m.rows)-room), 0)
	m.top = max(min(m.top, m.at), m.at-room+1, 0)
}

// preview asks for that of the selected session, unless it is known or another one is looked at: then when that is there.
func (m *Model) preview() tea.Cmd {
	if m.asking != "" || m.selected == "" {
		return nil
	}
	if _, known := m.previews[m.selected]; known {
		return nil
	}
	id, source := m.selected, m.cfg.Source
	m.asking = id
	return func() tea.Msg {
		p, err := source.Preview(context.Background(), id)
		return previewMsg{id: id, preview: p, err: err}
	}
}

func (m *Model) gotPreview(msg previewMsg) tea.Cmd {
	m.asking = ""
	if msg.err != nil {
		msg.preview = Preview{Nothing: msg.err.Error()}
	}
	if len(m.previews) >= maxPreviews {
		clear(m.previews)
	}
	m.previews[msg.id] = msg.preview
	return m.preview()
}
