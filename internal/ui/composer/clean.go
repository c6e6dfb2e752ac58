package composer

import (
	"strings"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/plain"
)

// clean makes what was typed, pasted or read into text that can be edited and sent: lines end with a newline, no
// escape sequence and no control character is left, and bytes that are no character are shown as such. Joiners that make
// one character of several stay.
func clean(s string) string {
	if isClean(s) {
		return s
	}
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
		if isClean(s) {
			return s
		}
	}
	s = plain.Joined(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Map(func(r rune) rune {
		if isChip(r) {
			return -1
		}
		return r
	}, s)
}

// isClean reports a text of plain characters, tabs and newlines, as nearly all are.
func isClean(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// oneLine is clean text without the ends of lines.
func oneLine(s string) string { return strings.ReplaceAll(clean(s), "\n", " ") }
