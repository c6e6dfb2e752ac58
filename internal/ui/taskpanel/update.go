package taskpanel

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/list"
)

// Update takes a message. Those that are not the panel's are ignored.
func (m *Model) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case listMsg:
		return m.gotList(msg)
	case listBeat:
		if msg.n == m.beat {
			return m.look()
		}
	case tailMsg:
		m.gotTail(msg)
	case tailBeat:
		return tea.Batch(m.tailLater(), m.lookAtTail())
	case doneMsg:
		return m.gotDone(msg)
	case tea.PasteMsg:
		if m.mode == filtering && m.filter.Paste(msg.Content) {
			m.arrange()
		}
	case tea.KeyPressMsg:
		return m.key(msg)
	}
	return nil
}

func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	switch m.mode {
	case filtering:
		m.typeFilter(msg)
		return nil
	case confirming:
		m.mode = browsing
		if msg.String() == "y" || msg.String() == "Y" {
			return m.act(m.ask)
		}
		m.tell(false, "nothing was done")
		return nil
	case browsing:
	}
	m.note = note{}
	if m.navigate(msg.String()) {
		return m.lookAtTail()
	}
	m.command(msg.String())
	return nil
}

// navigate moves about and reports whether that was what the key meant: pages are those of the output.
func (m *Model) navigate(key string) bool {
	page := max(m.layout().tail-1, 1)
	switch key {
	case "pgup", "b", "ctrl+u":
		m.tail.scroll(page)
	case "pgdown", "space", "ctrl+d":
		m.tail.scroll(-page)
	case "shift+up", "[":
		m.tail.scroll(1)
	case "shift+down", "]":
		m.tail.scroll(-1)
	default:
		by, ok := list.Step(key, page, false)
		if ok {
			m.move(by)
		}
		return ok
	}
	return true
}

func (m *Model) command(key string) {
	switch key {
	case "x", "delete":
		m.askKill()
	case "r":
		m.askRestart()
	case "a":
		m.showHints()
	case "/":
		m.mode = filtering
	case "e":
		m.live = !m.live
		m.arrange()
	case "w":
		m.tail.wrap = !m.tail.wrap
	case "enter", "tab":
		m.large = !m.large
	case "?":
		m.help = !m.help
	case "esc":
		m.Back()
	}
	m.keepVisible()
}

func (m *Model) typeFilter(msg tea.KeyPressMsg) {
	if by, ok := list.Step(msg.String(), 1, true); ok {
		m.move(by)
		return
	}
	switch msg.String() {
	case "enter":
		m.mode = browsing
	case "esc":
		m.Back()
	default:
		if m.filter.Key(msg) {
			m.arrange()
		}
	}
}

func (m *Model) setFilter(s string) {
	m.filter.Text = s
	m.arrange()
}

func (m *Model) askKill() {
	t, ok := m.Selected()
	switch {
	case !ok:
	case !t.State.Live():
		m.tell(true, "%s has ended already: %s", t.ID, t.Status)
	case m.busy[t.Key] != "":
		m.tell(true, "%s is %s", t.ID, m.busy[t.Key])
	default:
		what := fmt.Sprintf("pid %d", t.PID)
		if t.Processes > 1 {
			what = fmt.Sprintf("%d processes", t.Processes)
		}
		m.confirm(question{
			text: fmt.Sprintf("End %s (%s: %s)?", t.ID, label(t), what), key: t.Key,
			verb: "ending", done: "has ended, and all that it started", do: m.cfg.Source.Kill,
		})
	}
}

func (m *Model) askRestart() {
	t, ok := m.Selected()
	switch {
	case !ok:
	case m.busy[t.Key] != "":
		m.tell(true, "%s is %s", t.ID, m.busy[t.Key])
	default:
		text := "Run %s again (%s)?"
		if t.State.Live() {
			text = "End %s and run it again (%s)?"
		}
		m.confirm(question{text: fmt.Sprintf(text, t.ID, label(t)), key: t.Key, verb: "restarting", done: "runs again", do: m.cfg.Source.Restart})
	}
}

func (m *Model) confirm(q question) { m.mode, m.ask = confirming, q }

// showHints shows what to type for the selected task.
func (m *Model) showHints() {
	if t, ok := m.Selected(); ok {
		m.tell(false, "%s", strings.Join(m.cfg.Source.Hints(t), "   "))
	}
}

// tell shows a line for a while.
func (m *Model) tell(wrong bool, format string, args ...any) {
	m.note = note{text: fmt.Sprintf(format, args...), wrong: wrong, until: m.cfg.Now().Add(noteFor)}
}
