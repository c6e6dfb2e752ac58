package board

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/list"
)

// Update takes a message. Those that are not the board's are ignored.
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
	case listBeat:
		if msg.n == m.beat {
			return m.look()
		}
	case peekBeat:
		if msg.n == m.peek.n {
			return m.peekIn()
		}
	case nextBeat:
		if msg.n == m.peek.n {
			return msg.wait
		}
	case peekAnd:
		return m.gotPeek(msg.peekMsg, msg.over)
	case peekMsg:
		return m.gotPeek(msg, nil)
	case doneMsg:
		return m.gotDone(msg)
	case startedMsg:
		return m.gotDone(doneMsg{done: "session " + msg.id + " runs in the background", err: msg.err})
	case tea.PasteMsg:
		if m.mode == writing || m.mode == filtering {
			return m.wrote(m.field.Paste(msg.Content))
		}
	case tea.KeyPressMsg:
		return m.key(msg)
	}
	return nil
}

func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if key == "esc" {
		if m.Back() {
			return nil
		}
		return send(LeaveMsg{})
	}
	switch m.mode {
	case filtering, writing:
		return m.typed(msg)
	case confirming:
		return m.confirmed(key)
	case browsing:
	}
	m.note = note{}
	if by, ok := list.Step(key, m.layout().rows-1, false); ok {
		return m.move(by)
	}
	return m.command(key)
}

func (m *Model) command(key string) tea.Cmd {
	r, ok := m.Selected()
	switch key {
	case "q":
		return send(LeaveMsg{})
	case "?":
		m.help = !m.help
	case "/":
		m.mode, m.field = filtering, list.Field{Text: m.words}
	case "n":
		m.mode, m.field = writing, list.Field{Most: maxText}
	case "enter":
		if ok {
			return send(OpenMsg{r.ID})
		}
	case "a":
		if ok && r.Answerable {
			return send(AnswerMsg{r.ID})
		}
		m.tell(true, "nothing waits for an answer there")
	case "p":
		if ok && m.busy[r.ID] == "" {
			return m.act(r.ID, "pausing", "session "+r.ID+" is paused; perdure reopen lets it take turns again", func(ctx context.Context) error {
				return m.cfg.Source.Pause(ctx, r.ID)
			})
		}
	case "x":
		if ok && m.busy[r.ID] == "" {
			m.mode, m.sure = confirming, r.ID
		}
	}
	return nil
}

// confirmed closes the session that was asked about, if the answer is yes.
func (m *Model) confirmed(key string) tea.Cmd {
	m.mode = browsing
	if key != "y" && key != "Y" {
		m.tell(false, "nothing was done")
		return nil
	}
	id := m.sure
	return m.act(id, "closing", "session "+id+" is closed; perdure reopen takes it up again", func(ctx context.Context) error {
		return m.cfg.Source.Close(ctx, id)
	})
}

// typed takes a key of a text.
func (m *Model) typed(msg tea.KeyPressMsg) tea.Cmd {
	if msg.String() == "enter" {
		return m.entered()
	}
	if by, ok := list.Step(msg.String(), m.layout().rows-1, true); ok {
		if m.mode == filtering {
			return m.move(by)
		}
		return nil
	}
	return m.wrote(m.field.Key(msg))
}

// wrote follows the text that is written: a filter holds at once.
func (m *Model) wrote(changed bool) tea.Cmd {
	if changed && m.mode == filtering {
		return m.filter(m.field.Text)
	}
	return nil
}

// startedMsg says what became of a prompt.
type startedMsg struct {
	id  string
	err error
}

// entered keeps a filter, or starts what was written.
func (m *Model) entered() tea.Cmd {
	prompt := strings.TrimSpace(m.field.Text)
	was := m.mode
	m.mode = browsing
	if was == filtering || prompt == "" {
		return nil
	}
	m.tell(false, "starting…")
	source := m.cfg.Source
	return func() tea.Msg {
		id, err := source.Start(context.Background(), prompt)
		return startedMsg{id, err}
	}
}

func send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }
