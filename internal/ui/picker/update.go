package picker

import (
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
)

// Update takes a message. Those that are not the picker's are ignored.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	cmd := m.take(msg)
	owed := m.owed
	m.owed = nil
	return tea.Batch(cmd, owed)
}

func (m *Model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case listMsg:
		return m.got(msg)
	case previewMsg:
		return m.gotPreview(msg)
	case tea.PasteMsg:
		if m.mode == searching {
			return m.search(m.query.Words + plain.Line(msg.Content, maxWords))
		}
	case tea.KeyPressMsg:
		return m.key(msg)
	}
	return nil
}

func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if key == "esc" {
		if !m.Back() {
			return chosen(ChosenMsg{What: Leave})
		}
		return nil
	}
	m.note = ""
	if m.mode == confirming {
		m.mode = browsing
		if key == "y" || key == "Y" {
			return chosen(ChosenMsg{ID: m.selected, What: TakeOver})
		}
		m.note = "nothing was done"
		return nil
	}
	if cmd, ok := m.navigate(key); ok {
		return cmd
	}
	if m.mode == searching {
		return m.typed(msg)
	}
	return m.command(key)
}

// navigate moves about and reports whether that was what the key meant.
func (m *Model) navigate(key string) (tea.Cmd, bool) {
	page := max(m.layout().rows-1, 1)
	switch key {
	case "up", "ctrl+p":
		return m.move(-1), true
	case "down", "ctrl+n":
		return m.move(1), true
	case "pgup":
		return m.move(-page), true
	case "pgdown":
		return m.move(page), true
	case "enter":
		return m.choose(Continue), true
	case "tab":
		if m.cfg.Here == "" {
			return nil, true
		}
		m.query.All = !m.query.All
		m.rows = m.rows[:0]
		m.at, m.top, m.known = 0, 0, true // an empty directory is shown as that now
		return m.ask(), true
	}
	return nil, false
}

// typed takes a key of a search.
func (m *Model) typed(msg tea.KeyPressMsg) tea.Cmd {
	words := m.query.Words
	switch msg.String() {
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(words)
		return m.search(words[:len(words)-n])
	case "ctrl+u":
		return m.search("")
	}
	return m.search(words + plain.Text(msg.Text))
}

func (m *Model) command(key string) tea.Cmd {
	switch key {
	case "k":
		return m.move(-1)
	case "j":
		return m.move(1)
	case "home", "g":
		return m.move(-len(m.rows))
	case "end", "G":
		return m.move(len(m.rows))
	case "/":
		m.mode = searching
	case "?":
		m.help = !m.help
	case "f":
		return m.choose(Fork)
	case "h":
		return m.choose(Handoff)
	case "a":
		return m.choose(Attach)
	case "t":
		return m.choose(TakeOver)
	}
	return nil
}

// choose sends what was chosen, where that makes sense; else it says why not.
func (m *Model) choose(what What) tea.Cmd {
	r, ok := m.Selected()
	switch {
	case !ok:
		return nil
	case r.Holder != "" && what == Continue:
		m.note = plain.Line(r.Holder, 60) + " has it: a attach, f fork, t take over"
		return nil
	case r.Holder == "" && (what == Attach || what == TakeOver):
		m.note = "no other process has it: enter continues"
		return nil
	case what == TakeOver:
		m.mode = confirming
		return nil
	}
	return chosen(ChosenMsg{ID: r.ID, What: what})
}

func chosen(msg ChosenMsg) tea.Cmd { return func() tea.Msg { return msg } }
