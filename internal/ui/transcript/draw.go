package transcript

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// limit is how many lines of a text are shown: from its beginning, and from its end.
type limit struct{ head, tail int }

// Limits of what is shown of an item, and of one that is open with all of it. The log has the rest.
var (
	shortWords   = limit{40, 10}
	shortOutput  = limit{10, 10}
	shortThought = limit{150, 50}
	shortCommand = limit{30, 10}
	longText     = limit{1000, 1000}
)

// maxProse bounds the Markdown of one item that is drawn, in bytes: its end. It is far more than models write at once.
const maxProse = 512 << 10

// newest has all lines at the end: of what still grows.
func (l limit) newest() limit { return limit{0, l.head + l.tail} }

// draw makes the lines of an item: at least one.
func (m *Model) draw(e *entry) []string {
	e.cut = false
	st := m.cfg.Style
	switch e.Kind {
	case Person:
		return m.person(e)
	case Text:
		if lines := m.text(e); len(lines) > 0 {
			return lines
		}
		return []string{""}
	case Thinking:
		return m.thinking(e)
	case Tool:
		return m.call(e)
	case Trouble:
		return painted(st.Bad, signed("! ", m.limited(e, e.Text, shortWords, words(m.room()-2))))
	case Note:
	}
	return painted(st.Quiet, signed("· ", m.limited(e, e.Text, shortWords, words(m.room()-2))))
}

// limited is a text as lines, not more than there may be. What is left out is counted in its place.
func (m *Model) limited(e *entry, text string, short limit, wrap func(string) []string) []string {
	l := short
	if e.full || e.open && e.Kind != Tool && e.Kind != Thinking {
		l = longText
	}
	if e.saying || e.Kind == Tool && e.Call.State.Live() {
		l = l.newest()
	}
	first, last, left := ends(strings.Trim(text, "\n"), l.head, l.tail, wrap)
	if left == 0 {
		if len(first) == 0 {
			return []string{""}
		}
		return first
	}
	how := " left out"
	if e.cut = true; l.head == 0 {
		how = " before this"
	}
	count := "… " + plain.Count(int64(left), "line") + how
	return append(append(first[:len(first):len(first)], m.cfg.Style.Quiet.Styled(theme.Cut(count, m.room()-2))), last...)
}

func (m *Model) person(e *entry) []string {
	st := m.cfg.Style
	lines := m.limited(e, e.Text, shortWords, words(m.room()-2))
	if strings.TrimSpace(e.Text) == "" && len(e.With) > 0 {
		lines = nil
	}
	lines = signed("  ", painted(st.Person, lines))
	for _, with := range e.With {
		lines = append(lines, theme.Cut("  "+st.Accent.Styled("["+plain.Line(with, 200)+"]"), m.room()))
	}
	lines[0] = st.Accent.Styled(">") + lines[0][1:]
	return lines
}

func (m *Model) text(e *entry) []string {
	if e.stream != nil {
		e.stream.SetWidth(m.room())
		return e.stream.Lines()
	}
	text := e.Text
	if n := len(text) - maxProse; n > 0 {
		n += strings.IndexByte(text[n:], '\n') + 1
		note := m.cfg.Style.Quiet.Styled(theme.Cut("… "+plain.Size(int64(n))+" before this", m.room()))
		return append([]string{note}, m.cfg.Prose.Lines(strings.ToValidUTF8(text[n:], ""), m.room())...)
	}
	return m.cfg.Prose.Lines(text, m.room())
}

func (m *Model) thinking(e *entry) []string {
	st := m.cfg.Style
	if !e.open && !m.all {
		how, size := "thought", plain.Grouped(int64(len(e.Text)))+" characters"
		if e.saying {
			how = "thinking"
		}
		return []string{theme.Cut(st.Quiet.Styled("✻ "+how+", "+size), m.room())}
	}
	return painted(st.Quiet, signed("✻ ", m.limited(e, e.Text, shortThought, words(m.room()-2))))
}

// call draws a call: one line, and below it, if it is open, what it is about, what it changes and what it printed.
func (m *Model) call(e *entry) []string {
	lines := []string{m.callLine(&e.Call)}
	if !e.open && !m.all {
		return lines
	}
	st, room := m.cfg.Style, max(m.room()-4, 1)
	var more []string
	if about := e.Call.About; strings.Contains(about, "\n") || ansi.StringWidth(about) > m.room()/2 {
		first, last, left := ends(about, shortCommand.head, shortCommand.tail, hard(max(room-2, 1)))
		if left > 0 {
			first = append(first[:len(first):len(first)], "… "+plain.Count(int64(left), "line")+" left out")
		}
		more = append(more, painted(st.Code, signed("$ ", append(first[:len(first):len(first)], last...)))...)
	}
	for _, d := range e.Call.Diff {
		more = append(more, m.cfg.Diff(d, room)...)
	}
	if len(e.Call.Diff) == 0 || e.Call.State != Done { // else the diff says it all
		more = append(more, m.output(e, room)...)
	}
	if len(more) == 0 {
		more = []string{st.Quiet.Styled("(it has printed nothing)")}
	}
	bar := "  " + st.Quiet.Styled("│ ")
	for _, l := range more {
		lines = append(lines, bar+l)
	}
	return lines
}

// output is what a call printed or said.
func (m *Model) output(e *entry, room int) (lines []string) {
	if e.Call.Omitted > 0 {
		lines = append(lines, m.cfg.Style.Quiet.Styled("… "+plain.Size(e.Call.Omitted)+" before this"))
	}
	if strings.Trim(e.Call.Output, "\r\n") != "" {
		lines = append(lines, m.limited(e, e.Call.Output, shortOutput, hard(room))...)
	}
	return lines
}

func painted(s ansi.Style, lines []string) []string {
	for i, l := range lines {
		lines[i] = s.Styled(l)
	}
	return lines
}
