package picker

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// keys are what can be pressed, the most useful first.
var keys = [...]struct{ press, does, long string }{
	{"enter", "continue", "go on in the session"},
	{"/", "search", "find words in title, first words, directory, branch and id; esc shows all"},
	{"f", "fork", "go on in a copy; the session stays as it is"},
	{"h", "handoff", "begin a new session from the handoff that it left"},
	{"tab", "all", "sessions of all directories, or of this one alone"},
	{"esc", "leave", "leave without one"},
	{"?", "help", "this, and back"},
	{"a", "attach", "look on and answer, while another process runs it"},
	{"t", "take over", "run it here although another process has it; asks first"},
}

func (m *Model) helpLines() []string {
	var lines []string
	for _, k := range keys {
		lines = append(lines, "  "+m.cfg.Styles.Accent.Styled(theme.Fit(k.press, 6))+" "+k.long)
	}
	return lines
}

// ruleLine divides list and preview, and names whose it is.
func (m *Model) ruleLine() string {
	s := m.cfg.Styles
	text := ""
	if r, ok := m.Selected(); ok {
		text = " " + plain.Line(r.ID, m.width) + " "
		if r.Holder != "" {
			text += "– " + plain.Line(r.Holder, 60) + " has it "
		}
	}
	text = ansi.Truncate(text, max(m.width-4, 0), "… ")
	return s.Quiet.Styled("──") + s.Bold.Styled(text) + s.Quiet.Styled(strings.Repeat("─", max(m.width-2-ansi.StringWidth(text), 0)))
}

// previewLines show the selected session. What decides is first: what waits, and what going on costs.
func (m *Model) previewLines(height int) []string {
	s := m.cfg.Styles
	p, known := m.previews[m.selected]
	switch {
	case m.selected == "":
		return nil
	case !known:
		return []string{s.Quiet.Styled("  looking…")}
	case p.Nothing != "":
		return []string{s.Bad.Styled("  " + plain.Line(p.Nothing, 400))}
	}
	var lines []string
	for _, w := range p.Waits {
		lines = append(lines, s.Warn.Styled("  waits for you: ")+plain.Line(w, 400))
	}
	said := func(who, text string, style ansi.Style) {
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		const most, gap = 2, 9
		rows := strings.Split(ansi.Wrap(plain.Line(text, 2000), max(m.width-gap-2, 8), ""), "\n")
		if len(rows) > most {
			rows = append(rows[:most-1:most-1], theme.Cut(strings.Join(rows[most-1:], " "), max(m.width-gap-2, 8)))
		}
		for i, row := range rows {
			label := ""
			if i == 0 {
				label = who
			}
			lines = append(lines, "  "+s.Quiet.Styled(theme.Fit(label, gap-2))+style.Styled(row))
		}
	}
	said("first", p.First, s.Person)
	said("last", p.Asked, s.Person)
	said("said", p.Last, ansi.Style{})
	for _, t := range p.Tasks {
		lines = append(lines, s.Good.Styled("  runs   ")+plain.Line(t, 400))
	}
	if p.Next != "" {
		lines = append(lines, s.Quiet.Styled("  next   ")+plain.Line(p.Next, 400))
	}
	for i, step := range p.Plan {
		label := ""
		if i == 0 {
			label = "plan"
		}
		lines = append(lines, "  "+s.Quiet.Styled(theme.Fit(label, 7))+plain.Line(step, 400))
	}
	if len(lines) > height && height > 1 {
		more := len(lines) - height + 1
		lines = append(lines[:height-1], s.Quiet.Styled(fmt.Sprintf("  and %d more lines", more)))
	}
	return lines
}

// footLine is what a key does next.
func (m *Model) footLine() string {
	s := m.cfg.Styles
	switch {
	case m.mode == confirming:
		r, _ := m.Selected()
		const answers = " y/N"
		text := " Take it over from " + plain.Line(r.Holder, 60) + "? That process stops at its next step."
		return s.Warn.Styled(theme.Cut(text, m.width-len(answers))) + s.Bold.Styled(answers)
	case m.mode == searching:
		return s.Accent.Styled(" /"+m.typedWords()) + s.Quiet.Styled(searchKeys)
	case m.note != "":
		return s.Warn.Styled(" " + m.note)
	}
	list := make([]theme.Key, len(keys))
	for i, k := range keys {
		list[i] = theme.Key{Press: k.press, Does: k.does}
	}
	if m.query.Words != "" {
		return s.Accent.Styled(" /"+plain.Line(m.query.Words, 30)+" ") + s.Keys(list, m.width-ansi.StringWidth(m.query.Words)-4)
	}
	return s.Keys(list, m.width)
}

// searchKeys stand behind the words of a search.
const searchKeys = "  enter continues, esc clears"

// typedWords are as much of the words of a search as has room, the end.
func (m *Model) typedWords() string {
	return lastCells(plain.Line(m.query.Words, maxWords), max(m.width-3-len(searchKeys), 12))
}

// Cursor is where the person writes, relative to the page; nil: they do not.
func (m *Model) Cursor() *tea.Cursor {
	if m.mode != searching || m.width < minWidth || m.height < minHeight {
		return nil
	}
	return theme.Cursor(min(2+ansi.StringWidth(m.typedWords()), m.width-1), m.height-1)
}
