package textpage

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/list"
	"github.com/perdure/perdure/internal/ui/theme"
)

// find is a look for words in the text.
type find struct {
	on   bool // letters are words
	line list.Field
	last string // what was looked for
	at   int    // the line that has it; -1: none
	none bool   // it was found no further
}

func (p *Page) findKey(k tea.KeyPressMsg) {
	f := &p.find
	switch k.String() {
	case "esc":
		f.on, f.line.Text = false, ""
	case "enter":
		if f.line.Text != "" {
			f.last = f.line.Text
		}
		f.on, f.line.Text = false, ""
		p.next(1)
	default:
		f.line.Key(k)
	}
}

// next moves to the next line that has the words, or the one before.
func (p *Page) next(by int) {
	words := strings.ToLower(p.find.last)
	if words == "" || len(p.of) == 0 || p.rows() < 1 {
		return
	}
	from := p.find.at
	if top, last := p.of[p.top], p.of[min(p.top+p.rows(), len(p.of))-1]; from < top || from > last { // somebody has moved on
		if from = top - 1; by < 0 {
			from = last + 1
		}
	}
	for i := from + by; i >= 0 && i < len(p.text); i += by {
		if strings.Contains(strings.ToLower(p.text[i]), words) {
			p.find.at = i
			p.top = max(min(p.row(i)-p.rows()/3, len(p.lines)-p.rows()), 0)
			return
		}
	}
	p.find.none = true
}

// row is the first row of a line of the text.
func (p *Page) row(line int) int {
	lo, hi := 0, len(p.of)
	for lo < hi {
		if mid := (lo + hi) / 2; p.of[mid] < line {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// findLine is the line of the words, and where the cursor stands in it; empty: there is none.
func (p *Page) findLine() (line string, x int) {
	switch f := &p.find; {
	case f.on:
		return f.line.View(p.style, "find: ", "enter looks, esc closes", p.width)
	case f.none:
		return p.style.Quiet.Styled("found no further: " + plain.Line(f.last, list.MaxFilter)), 0
	}
	return "", 0
}

// Cursor is where words are written.
func (p *Page) Cursor() *tea.Cursor {
	if !p.find.on || p.height < 2 {
		return nil
	}
	_, x := p.findLine()
	return theme.Cursor(x, p.height-1)
}
