package chat

import (
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/notify"
	"github.com/perdure/perdure/internal/ui/pace"
)

// notices tell the terminal how the session stands: its title, and that it waits for its person.
func (m *Model) notices() tea.Cmd {
	if m.cfg.Notify == nil {
		return nil
	}
	s := m.stand
	r := notify.Report{State: notify.Idle, Session: s.Title}
	switch {
	case s.Waits > 0:
		r.State, r.Kind, r.Words = notify.Blocked, notify.Permission, "it waits for an answer"
	case s.Working:
		r.State = notify.Working
	case m.done && !s.Failed:
		r.State, r.Words = notify.Done, "it is done"
	case s.Failed:
		r.State, r.Words = notify.Failed, s.Halted
	}
	return m.cfg.Notify.Set(r)
}

// inlined prints what is finished into the scrollback, once.
func (m *Model) inlined() tea.Cmd {
	if !m.cfg.Inline || m.left || m.width <= 0 || m.resizing || m.page != nil || m.asking() { // what is printed on another screen is lost
		return nil
	}
	m.toPrint = append(m.toPrint, m.talk.TakeSettled(m.width)...)
	if len(m.toPrint) == 0 || m.printing {
		return nil
	}
	m.printing = true
	return tea.Sequence(m.printSome(), func() tea.Msg { return printedMsg{} })
}

// printSome prints the first lines that are not in the scrollback yet.
func (m *Model) printSome() tea.Cmd {
	n := min(len(m.toPrint), max(m.height-inlineLines, 1))
	text := strings.Join(m.toPrint[:n], "\n")
	m.toPrint = m.toPrint[n:]
	return tea.Println(text)
}

// leave ends the program. Inline, what is not in the scrollback yet goes there first, as far as it has come.
func (m *Model) leave() tea.Cmd {
	if !m.cfg.Inline {
		m.left = true
		return tea.Quit
	}
	if m.leaveThen = m.printing || m.resizing; m.leaveThen {
		return nil
	}
	var cmds []tea.Cmd
	if m.page != nil || m.asking() { // what is printed on another screen is lost
		cmds = append(cmds, tea.Tick(backAfter, func(time.Time) tea.Msg { return nil }))
	}
	m.left = true
	m.talk.Print(m.width, func(line string) { m.toPrint = append(m.toPrint, line) })
	for len(m.toPrint) > 0 {
		cmds = append(cmds, m.printSome())
	}
	return tea.Sequence(append(cmds, tea.Quit)...)
}

// backAfter is how long it takes to draw the screen that is left, in the place of another one: a few frames.
const backAfter = 50 * time.Millisecond

// printedMsg tells that lines are in the scrollback, and the next ones may follow. More lines at once than there are above
// the live area would push that into the scrollback.
type printedMsg struct{}

// liveLines are the newest lines of what is not finished yet.
func (m *Model) liveLines() []string {
	return m.talk.Tail(m.rows.talk)
}

// intoScrollback writes the conversation, as far as it is loaded, into the terminal's own scrollback.
func (m *Model) intoScrollback() tea.Cmd {
	if m.cfg.Inline {
		return nil
	}
	var text strings.Builder
	m.talk.Print(m.width, func(line string) {
		if m.plain {
			line = ansi.Strip(line)
		}
		text.WriteString(line + "\n")
	})
	m.tell(false, "the conversation is in the terminal's scrollback")
	return tea.Exec(&scrollback{text: text.String()}, func(err error) tea.Msg { return doneMsg{err: err} })
}

// scrollback prints a text while the terminal is lent out.
type scrollback struct {
	text string
	out  io.Writer
}

func (s *scrollback) Run() error {
	_, err := io.WriteString(s.out, strings.ReplaceAll(s.text, "\n", "\r\n"))
	<-time.After(pace.Lent)
	return err
}

func (s *scrollback) SetStdin(io.Reader)    {}
func (s *scrollback) SetStdout(w io.Writer) { s.out = w }
func (s *scrollback) SetStderr(io.Writer)   {}
