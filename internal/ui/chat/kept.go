package chat

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/composer"
)

// keepAfter is how long after a key what is written is kept: so no more than once in that time.
const keepAfter = time.Second

// kept is how far what is written was kept.
type kept struct {
	n    int  // of the look that is awaited; others do not count
	due  bool // one is
	busy bool
	some bool // something is kept
	told bool // that it cannot be
}

// keepMsg has what is written kept; keptMsg tells that it is.
type (
	keepMsg struct{ n int }
	keptMsg struct{ err error }
)

// keepSoon has what is written kept, some time after a key.
func (m *Model) keepSoon() tea.Cmd {
	if m.kept.due || m.in.Empty() && !m.kept.some {
		return nil
	}
	return m.keepLater()
}

func (m *Model) keepLater() tea.Cmd {
	m.kept.due = true
	m.kept.n++
	n := m.kept.n
	return tea.Tick(keepAfter, func(time.Time) tea.Msg { return keepMsg{n} })
}

// keep keeps what is written now.
func (m *Model) keep() tea.Cmd {
	m.kept.due = false
	m.kept.n++
	if m.kept.busy { // the disk is slow
		return m.keepLater()
	}
	if m.in.Empty() && !m.kept.some {
		return nil
	}
	m.kept.busy, m.kept.some = true, !m.in.Empty()
	link, ctx, draft := m.cfg.Link, m.ctx, m.in.Draft()
	return func() tea.Msg { return keptMsg{link.KeepDraft(ctx, draft)} }
}

// reopenMsg tells that what is written was kept, so that the session can be opened again; err: it was not.
type reopenMsg struct{ err error }

// reopen leaves to open the same session again, once what is written is kept for it.
func (m *Model) reopen() tea.Cmd {
	if m.in.Empty() {
		return m.reopened(reopenMsg{})
	}
	link, ctx, draft := m.cfg.Link, m.ctx, m.in.Draft()
	return func() tea.Msg { return reopenMsg{link.KeepDraft(ctx, draft)} }
}

func (m *Model) reopened(msg reopenMsg) tea.Cmd {
	if msg.err != nil {
		m.tell(true, "not opened, since what you have written would be lost: "+plain.Line(msg.err.Error(), 300))
		return nil
	}
	m.result.Goal, m.result.Err = &Goal{Session: m.stand.ID}, nil
	return m.leave()
}

// Written is what is written and not sent, once the program has ended.
func (m *Model) Written() composer.Draft { return m.in.Draft() }

func (m *Model) keptNow(msg keptMsg) {
	m.kept.busy = false
	if msg.err != nil && !m.kept.told && m.ctx.Err() == nil {
		m.kept.told = true
		m.tell(true, "what you write here would be lost with this terminal: "+plain.Line(msg.err.Error(), 300))
	}
}
