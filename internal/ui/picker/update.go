package picker

import (
	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/list"
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
		if m.field.Paste(msg.Content) {
			return m.search()
		}
	case tea.KeyPressMsg:
		return m.key(msg)
	}
	return nil
}

func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if key == "esc" {
		switch {
		case m.Back():
			return nil
		case m.cfg.Return:
			return chosen(ChosenMsg{What: Return})
		}
		return chosen(ChosenMsg{What: Leave})
	}
	m.note, m.cfg.Note = "", ""
	if m.sure {
		m.sure = false
		if key == "y" || key == "Y" {
			return chosen(ChosenMsg{ID: m.selected(), What: TakeOver})
		}
		m.note = "nothing was done"
		return nil
	}
	if by, ok := list.Step(key, m.layout().rows-1, true); ok {
		return m.move(by)
	}
	for what, press := range presses {
		if key == press && press != "" {
			return m.choose(What(what))
		}
	}
	switch {
	case key == "tab":
		return m.everywhere()
	case key == "f1", key == "?" && m.field.Text == "":
		m.help = !m.help
	case key == "/" && m.field.Text == "": // who is used to beginning a search by it
	case m.field.Key(msg):
		return m.search()
	}
	return nil
}

// presses are the keys of what can be done with a session.
var presses = [...]string{Continue: "enter", Fork: "ctrl+f", Handoff: "ctrl+o", Attach: "ctrl+l", TakeOver: "ctrl+t"}

// everywhere asks for sessions of all directories, or of this one alone.
func (m *Model) everywhere() tea.Cmd {
	if m.cfg.Here == "" {
		return nil
	}
	m.query.All = !m.query.All
	m.rows, m.known = m.rows[:0], true // an empty directory is shown as that now
	m.arranged(false)
	m.list.First()
	return m.ask()
}

// choose sends what was chosen, where that makes sense; else it says why not.
func (m *Model) choose(what What) tea.Cmd {
	r, ok := m.Selected()
	switch {
	case !ok:
		return nil
	case r.Holder != "" && what == Continue:
		m.note = plain.Line(r.Holder, 60) + " has it: ctrl+l attach, ctrl+f fork, ctrl+t take over"
		return nil
	case r.Holder == "" && (what == Attach || what == TakeOver):
		m.note = "no other process has it: enter continues"
		return nil
	case what == TakeOver:
		m.sure = true
		return nil
	}
	return chosen(ChosenMsg{ID: r.ID, What: what})
}

func chosen(msg ChosenMsg) tea.Cmd { return func() tea.Msg { return msg } }
