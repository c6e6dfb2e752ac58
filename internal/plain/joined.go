package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Joined is [Text] that keeps what makes one character of several: the zero width joiner and non-joiner between two
// characters that may need one, as in a family of emoji or in Persian. It is for text that a person edits.
func Joined(s string) string {
	s = withoutEscapes(s)
	if !strings.ContainsAny(s, joiners) {
		return clean(s)
	}
	var b strings.Builder
	for {
		i := strings.IndexAny(s, joiners)
		if i < 0 {
			b.WriteString(clean(s))
			return b.String()
		}
		b.WriteString(clean(s[:i]))
		joiner, rest := s[i:i+joinerSize], s[i+joinerSize:]
		last, _ := utf8.DecodeLastRuneInString(s[:i])
		first, _ := utf8.DecodeRuneInString(rest)
		if joins(last) && joins(first) {
			b.WriteString(joiner)
		}
		s = rest
	}
}

// The zero width non-joiner and the joiner, which have the same number of bytes.
const (
	joiners    = "\u200c\u200d"
	joinerSize = len("\u200d")
)

// joins reports a character that may be joined to another one: a letter, a mark or a symbol beyond ASCII.
func joins(r rune) bool {
	return r >= utf8.RuneSelf && r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsSymbol(r))
}
