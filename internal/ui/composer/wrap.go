package composer

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/theme"
)

// rows are the ends of a line's rows on the screen at a width, offsets in its text; there is at least one. A row breaks
// behind a blank or beside a wide character, or anywhere if it has neither. The last cell of a row stays free, so that
// the cursor has room behind everything.
func (b *buffer) rows(i, width int) []int {
	l := &b.lines[i]
	if l.width == width {
		return l.ends
	}
	l.width, l.ends = width, l.ends[:0]
	room := max(width-1, 1)
	if len(l.text) <= room && isClean(l.text) && !strings.Contains(l.text, "\t") {
		l.ends = append(l.ends, len(l.text))
		return l.ends
	}
	start, used, brk, wide := 0, 0, 0, false
	for at := 0; at < len(l.text); {
		n, cells := b.cluster(l.text[at:], used, room)
		if cells > 1 && at > start || wide {
			brk = at
		}
		if used+cells > room && at > start {
			if brk <= start {
				brk = at
			}
			l.ends = append(l.ends, brk)
			start, at, used, wide = brk, brk, 0, false
			continue
		}
		blank := l.text[at] == ' ' || l.text[at] == '\t'
		used, at, wide = used+cells, at+n, cells > 1
		if blank {
			brk = at
		}
	}
	l.ends = append(l.ends, len(l.text))
	return l.ends
}

// cluster is the length of the first cluster and the cells that it takes in a row where some are used. It is the larger
// one of the two ways in which terminals count.
func (b *buffer) cluster(s string, used, room int) (n, cells int) {
	n, cells = next(s, ansi.GraphemeWidth)
	if cells != 0 && s[0] < 0x80 && n == 1 {
		return n, 1
	}
	return n, ansi.StringWidth(b.shown(s[:n], used, room))
}

// shown is what the screen has for a cluster.
func (b *buffer) shown(cluster string, used, room int) string {
	r := []rune(cluster)
	switch {
	case r[0] == '\t':
		return strings.Repeat(" ", min(tabStop-used%tabStop, room))
	case isChip(r[0]):
		return theme.Cut(b.label(r[0]), room)
	}
	switch cells := ansi.StringWidth(cluster); {
	case cells == 0:
		return "◌" // a mark without a letter, or what has no ink
	case cells > room:
		return "…"
	}
	return cluster
}

// rowOf is the row of a line in which a place is.
func (b *buffer) rowOf(p pos, width int) int {
	ends := b.rows(p.line, width)
	for i, end := range ends {
		if p.off < end || i == len(ends)-1 {
			return i
		}
	}
	return 0
}

// row is where a row begins and ends.
func (b *buffer) row(line, row, width int) (from, to int) {
	ends := b.rows(line, width)
	if row > 0 {
		from = ends[row-1]
	}
	return from, ends[row]
}

// cell is the cell of a place in its row, as the terminal counts.
func (b *buffer) cell(p pos, width int, m ansi.Method) int {
	from, _ := b.row(p.line, b.rowOf(p, width), width)
	return m.StringWidth(b.expand(b.lines[p.line].text[from:p.off], width, nil))
}

// expand is what the screen has for a part of a line that begins with a row. Chips are painted, if paint is there.
func (b *buffer) expand(s string, width int, paint func(string) string) string {
	if isClean(s) && !strings.Contains(s, "\t") {
		return s
	}
	room := max(width-1, 1)
	var out strings.Builder
	for used := 0; s != ""; {
		n, cells := next(s, ansi.GraphemeWidth)
		text := s[:n]
		if n > 1 || cells == 0 {
			text = b.shown(text, used, room)
			cells = ansi.StringWidth(text)
		}
		if r, _ := utf8.DecodeRuneInString(s); paint != nil && isChip(r) {
			text = paint(text)
		}
		out.WriteString(text)
		used += cells
		s = s[n:]
	}
	return out.String()
}

// at is the place in a row that is nearest to a cell, at or before it.
func (b *buffer) at(line, row, goal, width int) pos {
	from, to := b.row(line, row, width)
	text, used, off := b.lines[line].text, 0, from
	last := row == len(b.lines[line].ends)-1
	for off < to {
		n, cells := b.cluster(text[off:], used, max(width-1, 1))
		if used+cells > goal || !last && off+n >= to {
			break
		}
		used, off = used+cells, off+n
	}
	return pos{line, off}
}
