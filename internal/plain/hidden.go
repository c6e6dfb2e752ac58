package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports a character that does not show by itself: what a terminal obeys, what has no width or no ink, what turns
// the direction of text, spaces and line ends that look like others, and the private areas, where every font shows
// something else. The ideographic space is as plain in its texts as the space is here.
func Hidden(r rune) bool {
	switch {
	case r >= ' ' && r < 0x7f, r == 0x3000:
		return false
	case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Zs, unicode.Zl, unicode.Zp):
		return true
	case r == 0x2800: // a braille pattern without dots
		return true
	}
	return unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
}

// Visible shows what is hidden in a text by its number, and bytes that are no character by theirs. Tabs stay. It is for
// what a person judges: unlike with [Text], nothing is left out.
func Visible(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, hiddenButTab) {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case !hiddenButTab(r):
			b.WriteString(s[:n])
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[n:]
	}
	return b.String()
}

func hiddenButTab(r rune) bool { return r != '\t' && Hidden(r) }

// Shown is [Visible] on one line of at most n characters; newlines become spaces.
func Shown(s string, n int) string {
	if limit := 16 * n; len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = s[:limit]
	}
	return Line(Visible(strings.ReplaceAll(s, "\n", " ")), n)
}
