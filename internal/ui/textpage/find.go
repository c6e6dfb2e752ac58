package textpage

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
)

// find is a look for words in the text.
type find struct {
	on   bool   // letters are words
	text string // so far
	last string // what was looked for
	at   int    // the line that has it; -1: none
	none bool   // it was found no further
}

// maxWords bounds what is looked for, in bytes.
const maxWords = 200

func (f *find) add(text string) {
	text = plain.Line(text, maxWords)
	if len(f.text)+len(text) <= maxWords {
		f.text += text
	}
}

func (p *Page) findKey(k tea.KeyPressMsg) {
	f := &p.find
	switch k.String() {
	case "esc":
		f.on, f.text = false, ""
	case "enter":
		if f.text != "" {
			f.last = f.text
		}
		f.on, f.text = false, ""
		p.next(1)
	case "backspace":
		if r := []rune(f.text); len(r) > 0 {
			f.text = string(r[:len(r)-1])
		}
	case "space":
		f.text += " "
	default:
		f.add(k.Text)
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

func (p *Page) findLine() string {
	switch f := p.find; {
	case f.on && f.text == "":
		return p.style.Accent.Styled("find: ") + p.style.Quiet.Styled("words; enter looks, esc closes")
	case f.on:
		return p.style.Accent.Styled("find: ") + f.text
	case f.none:
		return p.style.Quiet.Styled("found no further: " + plain.Line(f.last, maxWords))
	}
	return ""
}

// Cursor is where words are written.
func (p *Page) Cursor() *tea.Cursor {
	if !p.find.on || p.height < 2 {
		return nil
	}
	return tea.NewCursor(min(ansi.StringWidth("find: "+p.find.text), p.width-1), p.height-1)
}
