package asks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
)

// What comes back from the source, and the beats.
type (
	listMsg struct {
		of   *Model
		asks []Ask
		err  error
		took time.Duration
	}
	showMsg struct {
		of     *Model
		ask    Ask
		detail Detail
		err    error
	}
	becameMsg struct {
		of   *Model
		ask  Ask
		what string
	}
	doneMsg struct {
		of   *Model
		ask  Ask
		said string
		err  error
	}
	beatMsg struct {
		of *Model
		n  int
	}
	readyMsg struct{ of *Model } // keys may answer now: draw it
)

// Refresh looks at what waits, unless somebody is at it: then once more when that is done.
func (m *Model) Refresh() tea.Cmd {
	if m.listing {
		m.again = true
		return nil
	}
	m.listing = true
	source, now := m.cfg.Source, m.cfg.Now
	return func() tea.Msg {
		begin := now()
		asks, err := source.List(context.Background())
		return listMsg{of: m, asks: asks, err: err, took: now().Sub(begin)}
	}
}

func (m *Model) gotList(msg listMsg) tea.Cmd {
	m.failure, m.listing = "", false
	var cmds []tea.Cmd
	if msg.err != nil {
		m.failure = msg.err.Error()
	} else {
		m.asks, m.listed = slices.DeleteFunc(slices.Clone(msg.asks), func(a Ask) bool { return m.busy[a.ID] && a.ID != m.shown.ask.ID }), true
		cmds = append(cmds, m.follow())
	}
	if m.again {
		m.again = false
		return tea.Batch(append(cmds, m.Refresh())...)
	}
	if m.cfg.Page {
		m.beat++
		cmds = append(cmds, m.later(max(m.cfg.Every, maxLooking*msg.took), beatMsg{m, m.beat}))
	}
	return tea.Batch(cmds...)
}

// follow keeps what is on the screen while the list changes around it, and tells where it changed itself.
func (m *Model) follow() tea.Cmd {
	s := &m.shown
	if !m.focused || s.gone != "" {
		return nil
	}
	i := m.place()
	switch {
	case !s.some && len(m.asks) > 0:
		return m.sel(0)
	case !s.some || m.busy[s.ask.ID]:
		return nil
	case i < 0:
		return m.lost(s.ask)
	case m.asks[i].Bound != s.ask.Bound:
		cmd := m.sel(i)
		m.shown.anew = true
		return cmd
	}
	return nil
}

// lost says that the shown ask does not wait any more, and asks what became of it.
func (m *Model) lost(a Ask) tea.Cmd {
	m.shown.gone, m.typing, m.choice = "it does not wait any more", false, -1
	source := m.cfg.Source
	return func() tea.Msg { return becameMsg{of: m, ask: a, what: source.Became(context.Background(), a)} }
}

// show asks for what is to be known of an ask.
func (m *Model) show(a Ask) tea.Cmd {
	source := m.cfg.Source
	return func() tea.Msg {
		d, err := source.Show(context.Background(), a)
		return showMsg{of: m, ask: a, detail: d, err: err}
	}
}

func (m *Model) gotShow(msg showMsg) tea.Cmd {
	s := &m.shown
	if !s.some || s.ask.ID != msg.ask.ID || s.ask.Bound != msg.ask.Bound || s.gone != "" {
		return nil // of an ask that was shown before
	}
	var gone *Gone
	switch {
	case errors.As(msg.err, &gone):
		s.gone = gone.Error()
		return m.Refresh()
	case msg.err != nil:
		s.failed = msg.err.Error()
		return nil
	}
	s.failed, s.detail = "", &msg.detail
	s.wrap(m.bodyWidth())
	return m.soon()
}

// answer brings an answer to what is shown.
func (m *Model) answer(ans Answer, said string) tea.Cmd {
	a := m.shown.ask
	m.busy[a.ID] = true
	m.typing, m.choice = false, -1
	source := m.cfg.Source
	return func() tea.Msg {
		return doneMsg{of: m, ask: a, said: said, err: source.Answer(context.Background(), a, ans)}
	}
}

// gotDone tells how it went, and goes on to what waits next.
func (m *Model) gotDone(msg doneMsg) tea.Cmd {
	delete(m.busy, msg.ask.ID)
	s := &m.shown
	onScreen := s.some && s.ask.ID == msg.ask.ID
	var gone *Gone
	switch {
	case errors.As(msg.err, &gone) && onScreen:
		s.gone = gone.Error()
	case msg.err != nil:
		m.tell(true, "%s: %v", plain.Shown(msg.ask.Line, 60), msg.err)
	default:
		m.input = input{}
		m.tell(false, "%s: %s", msg.said, plain.Shown(msg.ask.Line, 200))
		i := m.place()
		m.asks = slices.DeleteFunc(m.asks, func(a Ask) bool { return a.ID == msg.ask.ID })
		if onScreen {
			return tea.Batch(m.next(i), m.Refresh())
		}
	}
	return m.Refresh()
}

// next shows the ask of a place; without any the keys go back to who had them.
func (m *Model) next(i int) tea.Cmd {
	m.shown = shown{}
	if len(m.asks) == 0 {
		m.Blur()
		return nil
	}
	return m.sel(i)
}

// soon draws the keys anew when they may count: a little later than that at the earliest.
func (m *Model) soon() tea.Cmd {
	const margin = 50 * time.Millisecond // until it was drawn
	return m.later(m.cfg.Quiet+margin, readyMsg{m})
}

// tell shows a line for a while.
func (m *Model) tell(wrong bool, format string, args ...any) {
	m.note = note{text: fmt.Sprintf(format, args...), wrong: wrong, until: m.cfg.Now().Add(noteFor)}
}
