package transcript

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Bounds of what an open item shows, in lines: more is shown on demand, up to the second.
const (
	shortOutput = 20
	longOutput  = 2000
	maxThought  = 200
)

// draw makes the lines of an item.
func (m *Model) draw(e *entry) []string {
	switch e.Kind {
	case Person:
		return m.person(e)
	case Text:
		return m.text(e)
	case Thinking:
		return m.thinking(e)
	case Tool:
		return m.call(e)
	case Trouble:
		return paintAll(m.cfg.Style.Bad, wrap("! ", e.Text, m.room()))
	case Note:
	}
	return paintAll(m.cfg.Style.Quiet, wrap("· ", e.Text, m.room()))
}

func (m *Model) person(e *entry) []string {
	lines := paintAll(m.cfg.Style.Person, wrap("> ", e.Text, m.room()))
	for _, with := range e.With {
		lines = append(lines, theme.Cut("  "+m.cfg.Style.Accent.Styled("["+plain.Line(with, 200)+"]"), m.room()))
	}
	return lines
}

func (m *Model) text(e *entry) []string {
	if e.stream != nil {
		e.stream.SetWidth(m.room())
		return append([]string(nil), e.stream.Lines()...)
	}
	return m.cfg.Prose.Lines(e.Text, m.room())
}

func (m *Model) thinking(e *entry) []string {
	if !e.open && !m.all {
		return []string{theme.Cut(m.cfg.Style.Quiet.Styled("✻ thought, "+plain.Grouped(int64(len(e.Text)))+" characters"), m.room())}
	}
	lines := wrap("✻ ", e.Text, m.room())
	if n := len(lines); n > maxThought && !e.full {
		lines = append([]string{fmt.Sprintf("✻ … %s lines before this", plain.Grouped(int64(n-maxThought)))}, lines[n-maxThought:]...)
	}
	return paintAll(m.cfg.Style.Quiet, lines)
}

// call draws a call: one line, and below it, if it is open, what it is about, what it changes and what it printed.
func (m *Model) call(e *entry) []string {
	lines := []string{m.callLine(&e.Call)}
	if !e.open && !m.all {
		return lines
	}
	room := m.room() - 4
	var more []string
	if about := plain.Text(e.Call.About); strings.Contains(about, "\n") || ansi.StringWidth(about) > m.room()/2 {
		more = append(more, paintAll(m.cfg.Style.Code, wrap("$ ", about, room))...)
	}
	for _, d := range e.Call.Diff {
		more = append(more, m.cfg.Diff(d.Name, d.Old, d.New, room)...)
	}
	more = append(more, m.output(e, room)...)
	if len(more) == 0 {
		more = []string{m.cfg.Style.Quiet.Styled("(it has printed nothing)")}
	}
	bar := m.cfg.Style.Quiet.Styled("│ ")
	for _, l := range more {
		lines = append(lines, "  "+bar+l)
	}
	return lines
}

func (m *Model) output(e *entry, room int) []string {
	text := Clean(e.Call.Output)
	if text = strings.Trim(text, "\n"); text == "" {
		return nil
	}
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, strings.Split(ansi.Hardwrap(line, max(room, 1), true), "\n")...)
		if len(out) > 4*longOutput {
			break
		}
	}
	most := shortOutput
	if e.full {
		most = longOutput
	}
	n := len(out)
	switch {
	case n <= most:
	case e.Call.State.Live(): // what comes is at the end
		out = append([]string{m.left(n-most, "before this")}, out[n-most:]...)
	default:
		head := most / 2
		tail := out[n-(most-head):]
		out = append(append(out[:head:head], m.left(n-most, "left out here; enter shows more")), tail...)
	}
	if e.Call.Omitted > 0 {
		out = append([]string{m.cfg.Style.Quiet.Styled("… " + plain.Size(e.Call.Omitted) + " before this")}, out...)
	}
	return out
}

func (m *Model) left(n int, how string) string {
	return m.cfg.Style.Quiet.Styled(fmt.Sprintf("… %s lines %s", plain.Grouped(int64(n)), how))
}

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
	outcome := plain.Line(c.Outcome, 1000)
	if c.State == Running && !c.Started.IsZero() {
		if took := m.cfg.Now().Sub(c.Started); took >= time.Second {
			outcome = plain.Span(took.Truncate(time.Second))
		}
	}
	if c.Took >= time.Second {
		outcome = strings.TrimSuffix(plain.Span(c.Took.Truncate(time.Second))+", "+outcome, ", ")
	}
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
			paint = st.Warn
		case Planned, Running, Background, Done:
		}
		line += " " + st.Quiet.Styled("→") + " " + paint.Styled(theme.Cut(outcome, left-3))
	}
	return theme.Cut(line, room)
}

// wrap breaks a text into lines, the first with a sign before it and the others below.
func wrap(sign, text string, width int) []string {
	indent := strings.Repeat(" ", ansi.StringWidth(sign))
	text = ansi.Wrap(Clean(text), max(width-len(indent), 1), "")
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range lines {
		if i == 0 {
			lines[i] = sign + lines[i]
		} else {
			lines[i] = indent + lines[i]
		}
	}
	return lines
}

func paintAll(s ansi.Style, lines []string) []string {
	for i, l := range lines {
		lines[i] = s.Styled(l)
	}
	return lines
}

// tabWidth is how many cells a tab takes.
const tabWidth = 4

// Clean makes output safe to show: no byte that a terminal obeys, of a line that was written over only what stood last,
// tabs as blanks.
func Clean(text string) string {
	if strings.ContainsRune(text, '\r') {
		lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
		for i, l := range lines {
			l = strings.TrimRight(l, "\r")
			lines[i] = l[strings.LastIndexByte(l, '\r')+1:]
		}
		text = strings.Join(lines, "\n")
	}
	return strings.ReplaceAll(plain.Text(text), "\t", strings.Repeat(" ", tabWidth))
}
