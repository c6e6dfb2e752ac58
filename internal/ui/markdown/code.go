package markdown

import (
	"strings"
	"unicode/utf8"
)

// lexer colours code line by line. All that it keeps from a line to the next is what is open: a comment, or a string of
// several lines.
type lexer struct {
	lang *language
	diff bool
	shut string // what ends what is open; empty: nothing is
	look attr   // of what is open
}

// lexerOf is the lexer of a language that is named as in a block of code. One that is not known has no colours.
func lexerOf(name string) lexer {
	name = strings.ToLower(strings.Trim(name, "{}."))
	if name == "diff" || name == "patch" {
		return lexer{diff: true}
	}
	return lexer{lang: languages()[name]}
}

// line is a line of code with its colours.
func (x *lexer) line(s string) []piece {
	switch {
	case s == "":
		return nil
	case x.diff:
		look := diffLook(s)
		if look == codeAdded || look == codeRemoved { // the words have the terminal's own colour
			return []piece{{text: s[:1], attr: look}, {text: s[1:]}}
		}
		return []piece{{text: s, attr: look}}
	case x.lang == nil:
		return []piece{{text: s}}
	}
	var out []piece
	put := func(n int, look attr) {
		if k := len(out) - 1; k >= 0 && out[k].attr == look {
			out[k].text += s[:n]
		} else if n > 0 {
			out = append(out, piece{text: s[:n], attr: look})
		}
		s = s[n:]
	}
	var before byte
	for s != "" {
		n, look := x.next(s, before)
		n = min(max(n, 1), len(s))
		before = s[n-1]
		put(n, look)
	}
	return out
}

// next is how many bytes belong together, and how they look. before is the byte before them.
func (x *lexer) next(s string, before byte) (n int, look attr) {
	if x.shut != "" {
		look = x.look
		if i := strings.Index(s, x.shut); i >= 0 {
			n = i + len(x.shut)
			x.shut = ""
			return n, look
		}
		return len(s), look
	}
	l := x.lang
	for _, note := range l.notes {
		// In a shell, what begins a comment may be a part of a word.
		if strings.HasPrefix(s, note) && (note != "#" || before == 0 || strings.IndexByte(" \t;(){}", before) >= 0) {
			return len(s), codeNote
		}
	}
	for _, pair := range l.long {
		if strings.HasPrefix(s, pair.open) {
			x.shut, x.look = pair.shut, pair.look
			n, _ = x.next(s[len(pair.open):], 0)
			return n + len(pair.open), pair.look
		}
	}
	switch c := s[0]; {
	case strings.IndexByte(l.quotes, c) >= 0:
		return quoted(s), codeText
	case c >= '0' && c <= '9':
		n = 1
		for n < len(s) && (isWord(s[n]) || s[n] == '.') {
			n++
		}
		return n, codeNumber
	case isLetter(c) || c == '_' || c == '$' || c >= utf8.RuneSelf:
		n = 1
		for n < len(s) && (isWord(s[n]) || s[n] == '$' || s[n] >= utf8.RuneSelf || l.dashes && s[n] == '-') {
			n++
		}
		word := s[:n]
		if l.fold {
			word = strings.ToLower(word)
		}
		if l.words[word] {
			return n, codeWord
		}
		return n, 0
	}
	return 1, 0
}

// quoted is how long a string is that begins here; one that has no end on the line goes to the line's.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}

// diffLook is the look of a line of a diff.
func diffLook(s string) attr {
	switch {
	case strings.HasPrefix(s, "+++"), strings.HasPrefix(s, "---"):
		return strong
	case s[0] == '+':
		return codeAdded
	case s[0] == '-':
		return codeRemoved
	case s[0] == '@':
		return codePlace
	case strings.HasPrefix(s, "diff "), strings.HasPrefix(s, "index "), s[0] == '\\':
		return codeNote
	}
	return 0
}
