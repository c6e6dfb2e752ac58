package composer

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// pos is a place in the text: a line, and an offset in bytes between two clusters of it.
type pos struct{ line, off int }

func (p pos) before(q pos) bool { return p.line < q.line || p.line == q.line && p.off < q.off }

// line is one line of the text, with what is known of how it wraps.
type line struct {
	text  string
	width int // for which ends are; 0: they are not known
	ends  []int
}

// buffer is the text, of at least one line, and the cursor. Every change goes through replace, so that every change can
// be undone.
type buffer struct {
	lines  []line
	cur    pos
	goal   int // the cell that moves up and down keep to; -1: none
	past   []change
	future []change
	kept   int               // bytes in past
	joined bool              // the next change may become part of the newest one
	label  func(rune) string // what a chip shows
}

func newBuffer(label func(rune) string) *buffer {
	return &buffer{lines: []line{{}}, goal: -1, label: label}
}

func (b *buffer) empty() bool { return len(b.lines) == 1 && b.lines[0].text == "" }

// text is all of it, with chips.
func (b *buffer) text() string { return b.between(pos{}, b.end()) }

func (b *buffer) end() pos { last := len(b.lines) - 1; return pos{last, len(b.lines[last].text)} }

// between is the text from one place to a later one.
func (b *buffer) between(from, to pos) string {
	if from.line == to.line {
		return b.lines[from.line].text[from.off:to.off]
	}
	var s strings.Builder
	s.WriteString(b.lines[from.line].text[from.off:])
	for i := from.line + 1; i < to.line; i++ {
		s.WriteString("\n" + b.lines[i].text)
	}
	s.WriteString("\n" + b.lines[to.line].text[:to.off])
	return s.String()
}

// change is one that can be undone: at a place, a text was put for another one.
type change struct {
	at       pos
	out, in  string
	cur, was pos // the cursor after it and before it
}

// replace puts a text for what is between two places, and the cursor behind it.
func (b *buffer) replace(from, to pos, in string) {
	c := change{at: from, out: b.between(from, to), in: in, was: b.cur}
	if c.out == "" && c.in == "" {
		return
	}
	b.cur = b.snap(b.splice(from, to, in))
	c.cur, b.goal = b.cur, -1
	b.remember(c)
}

// splice changes the lines, and returns the end of what came in.
func (b *buffer) splice(from, to pos, in string) pos {
	head, tail := b.lines[from.line].text[:from.off], b.lines[to.line].text[to.off:]
	parts := strings.Split(in, "\n")
	last := len(parts) - 1
	end := pos{from.line + last, len(parts[last])}
	if last == 0 {
		end.off += from.off
	}
	parts[0] = head + parts[0]
	parts[last] += tail
	if last == 0 && from.line == to.line {
		b.lines[from.line] = line{text: parts[0]}
		return end
	}
	fresh := make([]line, 0, len(b.lines)-(to.line-from.line)+last)
	fresh = append(fresh, b.lines[:from.line]...)
	for _, p := range parts {
		fresh = append(fresh, line{text: p})
	}
	b.lines = append(fresh, b.lines[to.line+1:]...)
	return end
}

// snap is the first place between clusters at or behind a place: what came in may have become one with what stood there.
func (b *buffer) snap(p pos) pos { return pos{p.line, boundary(b.lines[p.line].text, p.off)} }

// insert puts a text at the cursor.
func (b *buffer) insert(s string) { b.replace(b.cur, b.cur, s) }

// set puts a text for all there is.
func (b *buffer) set(s string) { b.replace(pos{}, b.end(), s) }

// after is the place one cluster on; ok is false at the end.
func (b *buffer) after(p pos) (q pos, ok bool) {
	text := b.lines[p.line].text
	switch {
	case p.off < len(text):
		n, _ := next(text[p.off:], ansi.GraphemeWidth)
		return pos{p.line, p.off + n}, true
	case p.line < len(b.lines)-1:
		return pos{p.line + 1, 0}, true
	}
	return p, false
}

// back is the place one cluster before; ok is false at the beginning.
func (b *buffer) back(p pos) (q pos, ok bool) {
	switch {
	case p.off > 0:
		return pos{p.line, before(b.lines[p.line].text, p.off)}, true
	case p.line > 0:
		return pos{p.line - 1, len(b.lines[p.line-1].text)}, true
	}
	return p, false
}
