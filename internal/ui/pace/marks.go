package pace

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// composed has a letter and the accent that follows it be one character, where there is such a one. Whoever draws takes
// a plain letter by itself and loses what is to be put on it: the names of files on a Mac are written so, and some
// keyboards write so. No width changes.
func composed(s string) string {
	if strings.IndexByte(s, firstMark) < 0 && strings.IndexByte(s, lastMark) < 0 {
		return s
	}
	var out strings.Builder
	done := 0
	for i := 1; i < len(s); i++ {
		if c := s[i-1]; s[i] != firstMark && s[i] != lastMark || c <= ' ' || c >= 0x7f {
			continue
		}
		if endsSequence(s[:i]) { // a mark behind a change of colours
			continue
		}
		end := i
		for end < len(s) && isMark(s[end:]) {
			end += 2
		}
		if end > i {
			out.WriteString(s[done : i-1])
			out.WriteString(norm.NFC.String(s[i-1 : end]))
			done, i = end, end
		}
	}
	out.WriteString(s[done:])
	return out.String()
}

// endsSequence reports whether a text ends with an escape sequence, such as one of colours.
func endsSequence(s string) bool {
	i := len(s) - 2
	for i > 0 && s[i] >= ' ' && s[i] <= '?' {
		i--
	}
	return i > 0 && s[i] == '[' && s[i-1] == '\x1b'
}

// The first bytes of the combining marks from U+0300 to U+036F.
const (
	firstMark = 0xcc
	lastMark  = 0xcd
)

func isMark(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r >= 0x300 && r <= 0x36f
}
