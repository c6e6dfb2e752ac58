package permission

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Some file systems take several spellings for one name: in another letter case, with letters composed or not (é or e
// and its accent), with characters that do not show left out. What narrows is therefore compared twice, in lower case
// and folded; what allows is compared as it is written.

// fold gives one spelling to all names that such a file system takes for the same.
func fold(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(s) {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(unicode.ToLower(r))
		case unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		case unfolds(r) != "":
			b.WriteString(unfolds(r))
		default:
			b.WriteString(norm.NFD.String(string(simplest(r))))
		}
	}
	return b.String()
}

// simplest is the first of the letters that differ in case alone, in lower case if it is one of A to Z.
func simplest(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if least < utf8.RuneSelf {
		return unicode.ToLower(least)
	}
	return least
}

// unfolds gives the letters that one letter is the same as when case is ignored, or "".
func unfolds(r rune) string {
	switch r {
	case 'ß', 'ẞ':
		return "ss"
	case 'ŉ':
		return "ʼn"
	case 'ﬀ':
		return "ff"
	case 'ﬁ':
		return "fi"
	case 'ﬂ':
		return "fl"
	case 'ﬃ':
		return "ffi"
	case 'ﬄ':
		return "ffl"
	case 'ﬅ', 'ﬆ':
		return "st"
	}
	return ""
}

// eitherWay asks for lower case, and for folded names where one of the texts has more than ASCII.
func eitherWay(same func(spell func(string) string) bool, texts ...string) bool {
	if same(strings.ToLower) {
		return true
	}
	for _, t := range texts {
		if !ascii(t) {
			return same(fold)
		}
	}
	return false
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
