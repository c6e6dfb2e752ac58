package composer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what can be undone.
const (
	maxChanges = 1000
	maxKept    = 4 << 20 // bytes
)

// remember keeps a change, as part of the newest one if both are the typing of one word.
func (b *buffer) remember(c change) {
	b.future = nil
	if n := len(b.past); b.joined && n > 0 && b.typed(b.past[n-1], c) {
		b.past[n-1].in += c.in
		b.past[n-1].cur = c.cur
	} else {
		b.past = append(b.past, c)
	}
	b.joined = true
	b.kept += len(c.in) + len(c.out)
	for len(b.past) > maxChanges || b.kept > maxKept && len(b.past) > 1 {
		b.kept -= len(b.past[0].in) + len(b.past[0].out)
		b.past = b.past[1:]
	}
}

// typed reports that a change goes on where the one before it ended, within a word.
func (b *buffer) typed(last, c change) bool {
	if last.out != "" || c.out != "" || b.endOf(last.at, last.in) != c.at || strings.Contains(last.in+c.in, "\n") {
		return false
	}
	end, _ := utf8.DecodeLastRuneInString(last.in)
	begin, size := utf8.DecodeRuneInString(c.in)
	return !isChip(end) && !isChip(begin) && (!unicode.IsSpace(end) || unicode.IsSpace(begin)) && size == len(c.in)
}

// undo takes the newest change back and reports whether there was one.
func (b *buffer) undo() bool {
	n := len(b.past)
	if n == 0 {
		return false
	}
	c := b.past[n-1]
	b.past, b.future = b.past[:n-1], append(b.future, c)
	b.kept -= len(c.in) + len(c.out)
	b.splice(c.at, b.endOf(c.at, c.in), c.out)
	b.cur, b.goal, b.joined = c.was, -1, false
	return true
}

// redo makes the change again that was undone last and reports whether there was one.
func (b *buffer) redo() bool {
	n := len(b.future)
	if n == 0 {
		return false
	}
	c := b.future[n-1]
	b.future, b.past = b.future[:n-1], append(b.past, c)
	b.kept += len(c.in) + len(c.out)
	b.splice(c.at, b.endOf(c.at, c.out), c.in)
	b.cur, b.goal, b.joined = c.cur, -1, false
	return true
}

// endOf is where a text ends that begins at a place.
func (b *buffer) endOf(at pos, s string) pos {
	lines := strings.Count(s, "\n")
	if lines == 0 {
		return pos{at.line, at.off + len(s)}
	}
	return pos{at.line + lines, len(s) - strings.LastIndexByte(s, '\n') - 1}
}
