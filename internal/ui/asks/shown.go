package asks

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// shown is the ask on the screen, and how far it has been seen.
type shown struct {
	ask    Ask
	some   bool // there is one
	detail *Detail
	failed string // why it cannot be shown
	gone   string // it does not wait any more: what became of it
	anew   bool   // another call was shown in its place before

	width   int
	lines   []Row // wrapped to width
	scroll  int
	seen    int       // lines that have been on the screen, from the first on
	drawn   time.Time // when it was drawn first; zero: not yet
	lastKey time.Time
	ready   bool // keys answer
	wider   bool // the wider rule is the one that is offered
}

// sel shows the ask of that place, and asks for what is to be known of it.
func (m *Model) sel(i int) tea.Cmd {
	if len(m.asks) == 0 {
		m.shown = shown{}
		return nil
	}
	a := m.asks[min(max(i, 0), len(m.asks)-1)]
	m.shown = shown{ask: a, some: true, width: m.bodyWidth()}
	m.typing, m.choice, m.help = false, -1, false
	if m.input.of != a.ID {
		m.input = input{of: a.ID}
	}
	return m.show(a)
}

// place is where the shown ask stands in the list; -1: nowhere.
func (m *Model) place() int {
	for i, a := range m.asks {
		if m.shown.some && a.ID == m.shown.ask.ID {
			return i
		}
	}
	return -1
}

// maxText bounds what is shown of one row, in bytes.
const maxText = 1 << 20

// wrap lays the rows out in that many cells. None of the lines has been on the screen then.
func (s *shown) wrap(width int) {
	s.width, s.seen = width, 0
	s.lines = nil
	if s.detail == nil || s.width < 1 {
		return
	}
	if s.anew {
		s.lines = append(s.lines, Row{Warning, theme.Cut("It has changed since it was shown: look at it again.", s.width)})
	}
	for _, r := range s.detail.Rows {
		s.detail.Part = s.detail.Part || len(r.Text) > maxText
		wrap := wrapped
		if s.ask.Kind != Approval || r.Look == About && strings.HasPrefix(r.Text, "because ") { // paths and what runs stay as they are
			wrap = worded
		}
		for _, text := range wrap(r.Text, s.width) {
			s.lines = append(s.lines, Row{r.Look, text})
		}
	}
	for i, o := range s.detail.Options {
		head := strings.Repeat(" ", 4)
		if i < 9 {
			head = " " + string(rune('1'+i)) + ". "
		}
		for j, text := range worded(o, max(s.width-len(head), 1)) {
			if j > 0 {
				head = strings.Repeat(" ", 4)
			}
			s.lines = append(s.lines, Row{option(i), head + text})
		}
	}
	s.scroll = min(s.scroll, max(len(s.lines)-1, 0))
}

// option is the look of an option's lines: its number, so that the selected one can be shown.
func option(i int) Look { return Look(100 + i) }

// wrapped makes lines of a text that a terminal shows as what it is: what is hidden by its number, tabs as spaces.
func wrapped(s string, width int) []string {
	return laid(s, func(line string) []string { return theme.Break(line, width) })
}

// worded is wrapped between words, for what nobody runs.
func worded(s string, width int) []string {
	return laid(s, func(line string) []string { return theme.Wrap(line, width) })
}

func laid(s string, wrap func(string) []string) []string {
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	s = strings.NewReplacer("\u2066", "", "\u2069", "").Replace(s) // it is put in again, around each line
	var out []string
	for l := range strings.SplitSeq(s, "\n") {
		for _, part := range wrap(spaced(plain.Visible(l))) {
			out = append(out, plain.Isolated(part))
		}
	}
	return out
}

// spaced has spaces up to the next stop for each tab.
func spaced(s string) string {
	if !strings.ContainsRune(s, '\t') {
		return s
	}
	const stop = 8
	var b strings.Builder
	for i, cell := range strings.Split(s, "\t") {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", stop-ansi.StringWidth(b.String())%stop))
		}
		b.WriteString(cell)
	}
	return b.String()
}

// whole reports whether all of it has been on the screen.
func (s *shown) whole() bool { return s.detail != nil && s.seen >= len(s.lines) }

// see notes what is drawn now.
func (s *shown) see(height int, now time.Time) {
	if s.detail == nil || s.gone != "" {
		return
	}
	if s.drawn.IsZero() {
		s.drawn = now
	}
	if s.scroll <= s.seen { // else lines between were never there
		s.seen = max(s.seen, min(s.scroll+height, len(s.lines)))
	}
}

// armed reports whether a key that comes now answers: the ask was drawn, and then no key came for a while.
func (s *shown) armed(now time.Time, quiet time.Duration) bool {
	if s.ready {
		return true
	}
	since := s.drawn
	if s.lastKey.After(since) {
		since = s.lastKey
	}
	s.ready = !s.drawn.IsZero() && now.Sub(since) >= quiet
	return s.ready
}
