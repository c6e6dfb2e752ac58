package composer

import (
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// up moves the cursor a number of rows up, down if it is negative, and reports whether there was such a row.
func (b *buffer) up(n, width int) bool {
	if b.goal < 0 {
		b.goal = b.cell(b.cur, width, ansi.GraphemeWidth)
	}
	line, row := b.cur.line, b.rowOf(b.cur, width)
	for ; n > 0; n-- {
		switch {
		case row > 0:
			row--
		case line > 0:
			line--
			row = len(b.rows(line, width)) - 1
		default:
			return false
		}
	}
	for ; n < 0; n++ {
		switch {
		case row < len(b.rows(line, width))-1:
			row++
		case line < len(b.lines)-1:
			line++
			row = 0
		default:
			return false
		}
	}
	b.cur = b.at(line, row, b.goal, width)
	return true
}

// moveTo puts the cursor at a place.
func (b *buffer) moveTo(p pos) { b.cur, b.goal, b.joined = p, -1, false }

// wordBack is the beginning of the word before a place. Words are of letters and digits; a chip is one.
func (b *buffer) wordBack(p pos, inside func(rune) bool) pos {
	for in := false; ; {
		q, ok := b.back(p)
		if !ok {
			return p
		}
		r := b.first(q, p)
		if in && (!inside(r) || isChip(r)) {
			return p
		}
		if p = q; isChip(r) {
			return p
		}
		in = in || inside(r)
	}
}

// wordAfter is the end of the word behind a place.
func (b *buffer) wordAfter(p pos, inside func(rune) bool) pos {
	for in := false; ; {
		q, ok := b.after(p)
		if !ok {
			return p
		}
		r := b.first(p, q)
		if in && (!inside(r) || isChip(r)) {
			return p
		}
		if p = q; isChip(r) {
			return p
		}
		in = in || inside(r)
	}
}

// first is the first character between two places; a newline between two lines.
func (b *buffer) first(p, q pos) rune {
	if p.line != q.line {
		return '\n'
	}
	r, _ := utf8.DecodeRuneInString(b.lines[p.line].text[p.off:])
	return r
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_' || isChip(r)
}

func isInk(r rune) bool { return !unicode.IsSpace(r) }
