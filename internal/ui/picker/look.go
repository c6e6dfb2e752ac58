package picker

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/list"
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
	if m.looking || m.next == "" || len(m.rows)-m.list.At() > ahead || len(m.rows) >= maxRows {
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
	if m.query.Words != "" {
		best(m.rows, m.query.Words)
	}
	m.arranged(msg.first && m.query.Words != "")
	return tea.Batch(m.more(), m.preview())
}

// search asks for what the field says now. Those rows that are known and have its words are shown at once.
func (m *Model) search() tea.Cmd {
	words := m.field.Text
	if strings.HasPrefix(words, m.query.Words) {
		m.rows = slices.DeleteFunc(m.rows, func(r Row) bool { return !Matches(r, words) })
	}
	m.query.Words = words
	m.arranged(words != "")
	return tea.Batch(m.ask(), m.preview())
}

// Matches reports whether all words of a search are somewhere in what is shown of a session. Sources find rows by it.
func Matches(r Row, words string) bool {
	return list.Matches(words, r.Title, r.First, r.Found, r.Dir, r.Branch, r.ID, r.Status)
}

// best puts those first that the words as they stand lead to: as a whole title or id, at its beginning, in it, and then in
// the first words. Among the same they stay in order.
func best(rows []Row, words string) {
	words = strings.ToLower(strings.TrimSpace(words))
	rank := func(r *Row) int {
		title, first := strings.ToLower(r.Title), strings.ToLower(r.First)
		switch {
		case title == words, r.ID == words:
			return 0
		case strings.HasPrefix(title, words), strings.HasPrefix(r.ID, words):
			return 1
		case strings.Contains(title, words):
			return 2
		case strings.Contains(first, words):
			return 3
		}
		return 4
	}
	ranked := make([][]Row, 5)
	for i := range rows {
		n := rank(&rows[i])
		ranked[n] = append(ranked[n], rows[i])
	}
	copy(rows, slices.Concat(ranked...))
}

// arranged tells the list which rows there are now. Who searches has the first one selected; else the same session stays
// selected where it is shown, else the same place.
func (m *Model) arranged(first bool) {
	m.list.Set(len(m.rows), func(i int) (string, bool) { return m.rows[i].ID, true })
	if first {
		m.list.First()
	}
	if len(m.rows) == 0 || m.placed {
		return
	}
	if m.placed = true; len(m.rows) > 1 && m.rows[0].ID == m.cfg.Left && m.field.Text == "" {
		m.list.Move(1)
	}
}

// move selects another row.
func (m *Model) move(by int) tea.Cmd {
	m.list.Move(by)
	return tea.Batch(m.more(), m.preview())
}

// preview asks for that of the selected session, unless it is known or another one is looked at: then when that is there.
func (m *Model) preview() tea.Cmd {
	id, source := m.selected(), m.cfg.Source
	if _, known := m.previews[id]; known || id == "" || m.asking != "" {
		return nil
	}
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
