package transcript

import (
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// sign is a call's state at a glance.
func (m *Model) sign(s State) string {
	st := m.cfg.Style
	switch s {
	case Planned:
		return st.Quiet.Styled("○")
	case Waiting:
		return st.Warn.Styled("?")
	case Running:
		return st.Accent.Styled("●")
	case Background:
		return st.Accent.Styled("◌")
	case Done:
		return st.Good.Styled("✓")
	case Failed:
		return st.Bad.Styled("✗")
	case Unknown:
	}
	return st.Odd.Styled("≈")
}

// callLine is the call in one line: its sign, its name, what it is about, and what came of it.
func (m *Model) callLine(c *Call) string {
	st, room := m.cfg.Style, m.room()
	name := plain.Shown(c.Name, 40)
	outcome := m.outcome(c)
	left := room - 2 - ansi.StringWidth(name) - 1
	about := plain.Shown(c.About, 1000)
	want := ansi.StringWidth(about)
	if outcome != "" {
		want = min(want, max(left*3/5, left-ansi.StringWidth(outcome)-3))
	}
	about = theme.Cut(about, max(want, 0))
	line := m.sign(c.State) + " " + st.Bold.Styled(name) + " " + about
	if left -= ansi.StringWidth(about); outcome != "" && left > 6 {
		paint := st.Quiet
		switch c.State {
		case Failed:
			paint = st.Bad
		case Waiting, Unknown:
			paint = st.Bold
		case Planned, Running, Background, Done:
		}
		line += " " + st.Quiet.Styled("→") + " " + paint.Styled(theme.Cut(outcome, left-3))
	}
	return theme.Cut(line, room)
}

// outcome is what came of a call, and how long it took, if that was long.
func (m *Model) outcome(c *Call) string {
	took := c.Took
	if c.State == Running && !c.Started.IsZero() {
		took = m.cfg.Now().Sub(c.Started)
	}
	words := plain.Line(c.Outcome, 1000)
	switch {
	case took < time.Second:
		return words
	case words == "" || c.State == Running:
		return plain.Span(took)
	}
	return plain.Span(took) + ", " + words
}
