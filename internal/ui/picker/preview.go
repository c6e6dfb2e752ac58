package picker

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// keys are what can be pressed, the most useful first: while another process has the session (held), and while none has.
var keys = [...]struct {
	press, does, long string
	held, free        bool
}{
	{"enter", "continue", "go on in the session", false, true},
	{"ctrl+l", "attach", "look on and answer, while another process runs it", true, false},
	{"f1", "help", "this, and back; ? too before a search", true, true},
	{"ctrl+f", "fork", "go on in a copy; the session stays as it is", true, true},
	{"ctrl+t", "take over", "run it here although another process has it; asks first", true, false},
	{"tab", "all", "sessions of all directories, or of this one alone", true, true},
	{"esc", "leave", "clear the search; then leave, or back to the session", true, true},
	{"ctrl+o", "handoff", "begin a new session from the handoff that it left", true, true},
}

func (m *Model) helpLines() []string {
	lines := []string{"  Letters search: title, first words, directory, branch, id, what was said."}
	for _, k := range keys {
		lines = append(lines, "  "+m.cfg.Styles.Accent.Styled(theme.Fit(k.press, 6))+" "+k.long)
	}
	return lines
}

// searchLine is what is searched for, and where the cursor stands in it.
func (m *Model) searchLine() (line string, x int) {
	hint := ""
	if m.field.Text == "" {
		hint = "type to search"
	}
	return m.field.View(m.cfg.Styles, " / ", hint, m.width)
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
	text = theme.CutTo(text, max(m.width-4, 0), "… ")
	return s.Quiet.Styled("──") + s.Bold.Styled(text) + s.Quiet.Styled(strings.Repeat("─", max(m.width-2-ansi.StringWidth(text), 0)))
}

// previewLines show the selected session. What decides is first: what waits, and what going on costs.
func (m *Model) previewLines(height int) []string {
	s := m.cfg.Styles
	p, known := m.previews[m.selected()]
	switch {
	case m.selected() == "":
		return nil
	case !known:
		return []string{s.Quiet.Styled("  looking…")}
	case p.Nothing != "":
		return []string{s.Bad.Styled("  " + plain.Line(p.Nothing, 400))}
	}
	var lines []string
	for _, w := range p.Waits {
		lines = append(lines, s.Warn.Styled("  ▲ ")+s.Bold.Styled("waits for you: ")+plain.Line(w, 400))
	}
	said := func(who, text string, style ansi.Style) {
		if text = strings.TrimSpace(text); text == "" {
			return
		}
		const most, gap = 2, 9
		rows := theme.Wrap(plain.Line(text, 2000), max(m.width-gap-2, 8))
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

// maxNote bounds the lines of a note.
const maxNote = 4

// noteLines tell the note.
func (m *Model) noteLines() []string {
	if m.cfg.Note == "" {
		return nil
	}
	rows := theme.Wrap(plain.Line(m.cfg.Note, 2000), max(m.width-2, 8))
	if len(rows) > maxNote {
		rows = append(rows[:maxNote-1:maxNote-1], theme.Cut(strings.Join(rows[maxNote-1:], " "), max(m.width-2, 8)))
	}
	for i, row := range rows {
		rows[i] = " " + m.cfg.Styles.Bad.Styled(row)
	}
	return rows
}

// footLine is what a key does next.
func (m *Model) footLine() string {
	s := m.cfg.Styles
	r, some := m.Selected()
	switch {
	case m.sure:
		const answers = " y/N"
		text := " Take it over from " + plain.Line(r.Holder, 60) + "? That process stops at its next step."
		return s.Bold.Styled(theme.Cut(text, m.width-len(answers))) + s.Bold.Styled(answers)
	case m.note != "":
		return s.Bold.Styled(" " + m.note)
	}
	var shown []theme.Key
	for _, k := range keys {
		if r.Holder != "" && !k.held || r.Holder == "" && !k.free || !some && (k.press == "enter" || strings.HasPrefix(k.press, "ctrl")) {
			continue
		}
		key := theme.Key{Press: k.press, Does: k.does}
		switch {
		case k.press == "esc" && m.field.Text != "":
			key.Does = "clear"
		case k.press == "esc" && m.cfg.Return:
			key.Does = "back"
		}
		shown = append(shown, key)
	}
	return s.Keys(shown, m.width)
}

// Cursor is where the person writes, relative to the page; nil: they do not.
func (m *Model) Cursor() *tea.Cursor {
	if m.sure || m.width < minWidth || m.height < minHeight {
		return nil
	}
	_, x := m.searchLine()
	return theme.Cursor(x, 1)
}
