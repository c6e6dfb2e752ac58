package composer

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// The mark at the left of the text, and the least width in which anything makes sense.
const (
	mark     = "> "
	minWidth = 12
)

func (c *Composer) textWidth() int { return max(c.width-len(mark), 1) }

// layout is how the lines are shared out: rows of a popup, of a note, of text.
type layout struct{ popup, note, text int }

func (c *Composer) layout() layout {
	var l layout
	if c.popup.kind == searching && c.height == 1 {
		return layout{popup: 1} // where the letters go comes first
	}
	l.note = min(len(c.noteLines()), c.height-1)
	want := 0
	if c.popup.open() {
		want = min(len(c.popup.items), maxPopup)
		if c.popup.kind == searching {
			want = min(len(c.popup.items)+1, maxPopup)
		}
	}
	const least = 3 // rows of a popup for which a long text moves together
	l.text = c.rowsUpTo(max(min(c.cfg.MaxRows, c.height-l.note-min(want, least)), 1))
	l.popup = max(min(want, c.height-l.note-l.text), 0)
	return l
}

// noteLines is the note in as many lines as it needs, at most three.
func (c *Composer) noteLines() []string {
	if c.note.text == "" {
		return nil
	}
	const most = 3
	lines := theme.Wrap(plain.Line(c.note.text, 300), c.width)
	if len(lines) > most {
		lines = append(lines[:most-1], theme.Cut(strings.Join(lines[most-1:], " "), c.width))
	}
	return lines
}

// rowsUpTo is how many rows the text has, counted no further than most.
func (c *Composer) rowsUpTo(most int) int {
	n := 0
	for i := range c.buf.lines {
		if n += len(c.buf.rows(i, c.textWidth())); n >= most {
			return most
		}
	}
	return n
}

// Height is how many lines View has now: the popup's, a note's and the text's, at most the room that there is.
func (c *Composer) Height() int {
	if c.width < minWidth {
		return 1
	}
	l := c.layout()
	return l.popup + l.note + l.text
}

// View draws the composer: exactly Height lines, none wider than the width.
func (c *Composer) View() string {
	if c.width < minWidth {
		return theme.Cut("too small", c.width)
	}
	l := c.layout()
	lines := c.popupLines(l.popup)
	style := c.cfg.Styles.Quiet
	if c.note.wrong {
		style = c.cfg.Styles.Bad
	}
	for _, l := range c.noteLines()[:max(l.note, 0)] {
		lines = append(lines, style.Styled(l))
	}
	return strings.Join(append(lines, c.textLines(l.text)...), "\n")
}

// textLines are the rows of the text that are on the screen, with a mark where there is more.
func (c *Composer) textLines(height int) []string {
	st := c.cfg.Styles
	if height < 1 {
		return nil
	}
	if c.Empty() {
		return []string{st.Accent.Styled(mark) + st.Quiet.Styled(theme.Cut(plain.Line(c.cfg.Hint, 200), c.textWidth()))}
	}
	c.scroll(height)
	out := make([]string, 0, height)
	at, more := c.top, true
	for more && len(out) < height {
		from, to := c.buf.row(at.line, at.off, c.textWidth())
		text := c.buf.expand(c.buf.lines[at.line].text[from:to], c.textWidth(), st.Accent.Styled)
		first := len(out) == 0
		above := first && at != pos{}
		at, more = c.below(at)
		left := "  "
		switch {
		case above:
			left = "↑ "
		case more && len(out) == height-1:
			left = "↓ "
		case first:
			left = mark
		}
		out = append(out, st.Accent.Styled(left)+text)
	}
	return out
}

// below is the row under a row, which is a line and a number in it.
func (c *Composer) below(r pos) (pos, bool) {
	switch {
	case r.off < len(c.buf.rows(r.line, c.textWidth()))-1:
		return pos{r.line, r.off + 1}, true
	case r.line < len(c.buf.lines)-1:
		return pos{r.line + 1, 0}, true
	}
	return r, false
}

// above is the row over a row.
func (c *Composer) above(r pos) (pos, bool) {
	switch {
	case r.off > 0:
		return pos{r.line, r.off - 1}, true
	case r.line > 0:
		return pos{r.line - 1, len(c.buf.rows(r.line-1, c.textWidth())) - 1}, true
	}
	return r, false
}

// scroll moves the rows on the screen so that the cursor is among them and no room is left over.
func (c *Composer) scroll(height int) {
	last := len(c.buf.lines) - 1
	if c.top.line > last {
		c.top = pos{last, 0}
	}
	c.top.off = min(c.top.off, len(c.buf.rows(c.top.line, c.textWidth()))-1)
	cur := pos{c.buf.cur.line, c.buf.rowOf(c.buf.cur, c.textWidth())}
	if cur.before(c.top) {
		c.top = cur
	}
	// From the cursor up: the first row of the screen is at most so far away.
	first := c.back(cur, height-1)
	if c.top.before(first) {
		c.top = first
	}
	if end := (pos{last, len(c.buf.rows(last, c.textWidth())) - 1}); c.back(end, height-1).before(c.top) {
		c.top = c.back(end, height-1)
	}
}

// back is a number of rows over a row.
func (c *Composer) back(r pos, n int) pos {
	for ; n > 0; n-- {
		r, _ = c.above(r)
	}
	return r
}

// Cursor is where the terminal's cursor belongs, from the top left of View; nil: keys do not come here.
func (c *Composer) Cursor() *tea.Cursor {
	if c.blurred || c.width < minWidth {
		return nil
	}
	l := c.layout()
	if c.popup.kind == searching {
		x := c.method.StringWidth(c.query())
		return theme.Cursor(min(x, c.width-1), max(l.popup-1, 0))
	}
	c.scroll(l.text)
	y := l.popup + l.note
	row := pos{c.buf.cur.line, c.buf.rowOf(c.buf.cur, c.textWidth())}
	for at, ok := c.top, true; ok && at != row; at, ok = c.below(at) {
		y++
	}
	x := len(mark) + c.buf.cell(c.buf.cur, c.textWidth(), c.method)
	return theme.Cursor(min(x, c.width-1), min(y, l.popup+l.note+l.text-1))
}

// popupLines are the rows of the popup, around the selected one.
func (c *Composer) popupLines(height int) []string {
	if height < 1 {
		return nil
	}
	p, st := &c.popup, c.cfg.Styles
	rows := height
	if p.kind == searching {
		rows--
	}
	top := max(0, min(p.selected-rows/2, len(p.items)-rows))
	wide := 0
	for _, it := range p.items {
		wide = max(wide, ansi.StringWidth(it.text))
	}
	wide = min(wide, max(c.width/2, 16))
	out := make([]string, 0, height)
	for i := top; i < len(p.items) && len(out) < rows; i++ {
		it, sign := p.items[i], "  "
		text := it.text
		if it.help != "" {
			text = theme.Fit(it.text, wide)
		}
		if i == p.selected {
			sign = "› "
		}
		line := theme.Cut(sign+text, c.width)
		if i == p.selected {
			line = st.Selected.Styled(line)
		}
		if it.help != "" {
			line += st.Quiet.Styled(theme.Cut("  "+it.help, c.width-ansi.StringWidth(line)))
		}
		out = append(out, line)
	}
	if p.kind != searching {
		return out
	}
	line := st.Accent.Styled(c.query())
	hint := "enter takes, esc closes"
	if p.words != "" && len(p.items) == 0 {
		hint = "nothing like that"
	}
	return append(out, line+st.Quiet.Styled(theme.Cut("  "+hint, c.width-ansi.StringWidth(line))))
}

// query is the line of the search, up to the cursor: the end of what is looked for, as far as it has room.
func (c *Composer) query() string {
	const label = "history: "
	return label + theme.End(plain.Joined(c.popup.words), max(c.width-len(label)-1, 1))
}
