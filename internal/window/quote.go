package window

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// elements are the names of those that parts stand in.
var elements = []string{
	"user_message", "awaited", "plan", "facts", "files", "live_state", "acts", "summary", "conversation", "instructions", "memory", "journal",
	"handoff", "earlier_plan", "commits", "state",
}

// longestElement bounds a word that is compared with them, in letters.
const longestElement = 16

// What reads as the beginning of an element, and as a slash in it.
const (
	brackets = "<\uff1c\ufe64\u2039\u27e8\u3008\u2329\u276c\u276e\u2770\u02c2\u1438\u227a\U0001d23d"
	slashes  = "/\uff0f\u2215\u2044\u2571\u29f8"
)

// Quote keeps a text within the element that it stands in: it cannot end that, nor begin one that speaks for the user, in
// no spelling that reads as the same.
func Quote(text string) string {
	var out strings.Builder
	for {
		i := strings.IndexAny(text, brackets)
		if i < 0 {
			break
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		out.WriteString(text[:i+size])
		if text = text[i+size:]; namesElement(text) {
			out.WriteByte('\\')
		}
	}
	if out.Len() == 0 {
		return text
	}
	out.WriteString(text)
	return out.String()
}

// namesElement reports a text that begins with the name of an element, perhaps behind a slash.
func namesElement(text string) bool {
	word := make([]byte, 0, longestElement+1)
	for _, r := range text {
		switch letter := readsAs(r); {
		case unseen(r):
		case letter != 0 && len(word) > longestElement:
			return false
		case letter != 0:
			word = append(word, letter)
		case len(word) > 0:
			return slices.Contains(elements, string(word))
		case !unicode.IsSpace(r) && !strings.ContainsRune(slashes, r):
			return false
		}
	}
	return slices.Contains(elements, string(word))
}

// unseen reports what stands between letters without being seen.
func unseen(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Mn) || unicode.IsControl(r) && !unicode.IsSpace(r)
}

// alike are letters of other scripts that look like a small Latin one.
var alike = map[rune]byte{
	'а': 'a', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'і': 'i', 'ј': 'j', 'ӏ': 'l', 'о': 'o', 'р': 'p', 'ѕ': 's', 'у': 'y', 'х': 'x', 'һ': 'h',
	'α': 'a', 'ι': 'i', 'ο': 'o', 'ρ': 'p', 'ν': 'v', 'υ': 'u', 'ı': 'i', '\uff3f': '_',
}

// readsAs is the small letter, digit or underscore that a rune reads as; 0: none.
func readsAs(r rune) byte {
	const full, bold, boldEnd = 0xff01 - '!', 0x1d400, 0x1d6a3 // full width; the alphabets of mathematics
	if r = unicode.ToLower(r); r >= full+'0' && r <= full+'z' {
		r -= full
	} else if r >= bold && r <= boldEnd {
		return byte('a' + (r-bold)%26)
	}
	switch {
	case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_':
		return byte(r)
	case alike[r] != 0:
		return alike[r]
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		return '?' // of a longer word
	}
	return 0
}

// attribute is a text as the value of an attribute: it ends neither that nor the element.
func attribute(text string) string {
	text = strings.NewReplacer(`"`, "&quot;", "<", "&lt;", ">", "&gt;").Replace(text)
	text = strings.Map(func(r rune) rune {
		if unseen(r) || unicode.In(r, unicode.Z, unicode.C) && r != ' ' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
	return `"` + Quote(text) + `"`
}
