package composer

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A cluster is what a person takes for one character: a letter with its marks, a family of emoji, a flag. The cursor
// stands only between clusters. A chip, which stands for something attached, and a tab are one each.

// Chips are characters of the last private area, one for each attachment; none of them can be typed or pasted.
const (
	firstChip = '\U00100000'
	lastChip  = '\U0010fffd'
)

func isChip(r rune) bool { return r >= firstChip && r <= lastChip }

// tabStop is how many cells a tab reaches at most.
const tabStop = 4

// next is the length in bytes and the width in cells of the first cluster of a line; of a tab and a chip the width is
// told by where it stands and by what it stands for, so that it is 0 here.
func next(s string, m ansi.Method) (n, cells int) {
	if c := s[0]; c < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		if c == '\t' {
			return 1, 0
		}
		return 1, 1
	}
	if r, n := utf8.DecodeRuneInString(s); isChip(r) || r == '\t' {
		return n, 0
	}
	cluster, cells := ansi.FirstGraphemeCluster(s, m)
	for i, r := range cluster {
		if i > 0 && isChip(r) {
			return i, m.StringWidth(cluster[:i])
		}
	}
	return len(cluster), cells
}

// boundary is the first place between two clusters at or behind an offset.
func boundary(s string, off int) int {
	if off <= 0 {
		return 0
	}
	if off >= len(s) {
		return len(s)
	}
	if s[off-1] < utf8.RuneSelf && s[off] < utf8.RuneSelf {
		return off // between two plain characters there always is one: a line has no CR
	}
	at := safe(s, off)
	for at < off {
		n, _ := next(s[at:], ansi.GraphemeWidth)
		at += n
	}
	return at
}

// before is the place one cluster before an offset that is one.
func before(s string, off int) int {
	if off <= 0 {
		return 0
	}
	at := safe(s, off-1)
	for {
		n, _ := next(s[at:], ansi.GraphemeWidth)
		if at+n >= off {
			return at
		}
		at += n
	}
}

// safe is a place at or before an offset from which clusters can be counted: behind a plain character that a plain one
// follows, or the beginning.
func safe(s string, off int) int {
	for i := min(off, len(s)-1); i > 0; i-- {
		if s[i] < utf8.RuneSelf && s[i-1] < utf8.RuneSelf {
			return i
		}
	}
	return 0
}
