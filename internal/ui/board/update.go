package board

import (
	"context"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
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
			return m.list()
		}
	case peekBeat:
		if msg.n == m.peek.n {
			return m.look()
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
			return m.write(m.text + plain.Line(msg.Content, maxText))
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
	if cmd, ok := m.navigate(key); ok {
		return cmd
	}
	return m.command(key)
}

// navigate moves about and reports whether that was what the key meant.
func (m *Model) navigate(key string) (tea.Cmd, bool) {
	page := max(m.layout().rows-1, 1)
	switch key {
	case "up", "k", "ctrl+p":
		return m.move(-1), true
	case "down", "j", "ctrl+n":
		return m.move(1), true
	case "pgup":
		return m.move(-page), true
	case "pgdown", "space":
		return m.move(page), true
	case "home", "g":
		return m.move(-len(m.lines)), true
	case "end", "G":
		return m.move(len(m.lines)), true
	}
	return nil, false
}

func (m *Model) command(key string) tea.Cmd {
	r, ok := m.Selected()
	switch key {
	case "q":
		return send(LeaveMsg{})
	case "?":
		m.help = !m.help
	case "/":
		m.mode, m.text = filtering, m.words
	case "n":
		m.mode, m.text = writing, ""
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
			m.mode, m.text = confirming, r.ID
		}
	}
	return nil
}

// confirmed closes the session that was asked about, if the answer is yes.
func (m *Model) confirmed(key string) tea.Cmd {
	id := m.text
	m.mode, m.text = browsing, ""
	if key != "y" && key != "Y" {
		m.tell(false, "nothing was done")
		return nil
	}
	return m.act(id, "closing", "session "+id+" is closed; perdure reopen takes it up again", func(ctx context.Context) error {
		return m.cfg.Source.Close(ctx, id)
	})
}

// typed takes a key of a text.
func (m *Model) typed(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "enter":
		return m.entered()
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(m.text)
		return m.write(m.text[:len(m.text)-n])
	case "ctrl+u":
		return m.write("")
	case "up", "down":
		if m.mode == filtering {
			cmd, _ := m.navigate(msg.String())
			return cmd
		}
		return nil
	}
	return m.write(m.text + plain.Text(msg.Text))
}

// write changes the text that is written. A filter holds at once.
func (m *Model) write(text string) tea.Cmd {
	most := maxText
	if m.mode == filtering {
		most = maxFilter
	}
	if utf8.RuneCountInString(text) > most {
		return nil
	}
	m.text = text
	if m.mode == filtering {
		return m.filter(text)
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
	prompt := strings.TrimSpace(m.text)
	was := m.mode
	m.mode, m.text = browsing, ""
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
