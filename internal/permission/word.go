package permission

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one shell word after unquoting.
type word struct {
	// text is what the shell passes on. In a word that is not known it holds
	// the literal pieces, with a NUL where something is expanded.
	text string
	raw  string // source bytes, for words that cannot be compared by text
	// known: the shell passes exactly text, nothing more or less.
	known bool
	// plain: written with nothing but literals, '…', "…" and backslashes, or a
	// file pattern; the only words of a plainly understood command.
	plain bool
	glob  bool // has an unquoted file pattern
	tilde bool // begins with an unquoted tilde
	// form is the text with marks for what the shell expands, and slots say what
	// stands at each markUnknown in it.
	form  string
	slots []slot
}

// equal compares two words for an exact rule.
func (w word) equal(v word) bool {
	if w.known && v.known {
		return w.text == v.text
	}
	return w.glob && v.glob && w.plain && v.plain && w.raw == v.raw
}

// unquoter collects the pieces of one word.
type unquoter struct {
	src             string
	b, form         strings.Builder
	w               word
	brace, braceSep bool
	open, closed    bool // [ and ]
	prev            byte // the unquoted byte before, 0 at the start, 1 after a quoted one
}

// unquote turns a parsed word into the word the shell passes on.
func unquote(src string, sw *syntax.Word) word {
	u := unquoter{src: src, w: word{known: true, plain: true}}
	if from, to := sw.Pos().Offset(), sw.End().Offset(); from <= to && to <= uint(len(src)) {
		u.w.raw = src[from:to]
	}
	for _, part := range sw.Parts {
		u.part(part)
	}
	u.w.text, u.w.form = u.b.String(), u.form.String()
	if u.open && u.closed {
		u.w.glob = true
	}
	if u.w.glob || u.w.tilde {
		u.w.known = false
	}
	if u.brace && u.braceSep {
		u.expanded()
	}
	return u.w
}

func (u *unquoter) expanded() { u.w.known, u.w.plain = false, false }

// write adds literal text, or what form marks so.
func (u *unquoter) write(text string) {
	u.b.WriteString(text)
	u.form.WriteString(formBytes(text))
}

func (u *unquoter) mark(c, mark byte) {
	u.b.WriteByte(c)
	u.form.WriteByte(mark)
}

// unknown adds a place that the shell fills.
func (u *unquoter) unknown(sl slot) {
	u.mark(0, markUnknown)
	u.w.slots = append(u.w.slots, sl)
	u.expanded()
}

func (u *unquoter) part(part syntax.WordPart) {
	switch part := part.(type) {
	case *syntax.Lit:
		u.bare(part.Value)
		return
	case *syntax.SglQuoted:
		if !part.Dollar {
			u.write(part.Value)
			break
		}
		u.w.plain = false
		if s, ok := ansiC(part.Value); ok {
			u.write(s)
		} else {
			u.unknown(slot{})
		}
	case *syntax.DblQuoted:
		if part.Dollar {
			u.w.plain = false
		}
		for i, in := range part.Parts {
			if lit, ok := in.(*syntax.Lit); ok {
				u.doubleQuoted(lit.Value, i == len(part.Parts)-1)
			} else {
				u.unknown(slotOf(u.src, in))
			}
		}
	default:
		u.unknown(slotOf(u.src, part))
	}
	u.prev = 1
}

// bare reads an unquoted literal.
func (u *unquoter) bare(s string) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '\\':
			if i++; i == len(s) {
				// A backslash at the very end: shells differ.
				u.write("\\")
				u.expanded()
				return
			}
			if s[i] != '\n' {
				u.write(s[i : i+1])
				u.prev = 1
			}
			continue
		case '*', '?':
			u.w.glob = true
		case '[':
			u.open = true
		case ']':
			u.closed = u.open
		case '~':
			if u.prev == 0 || u.prev == '=' || u.prev == ':' {
				u.w.tilde, u.w.plain = true, false
				u.mark(c, markTilde)
				u.prev = c
				continue
			}
		case '{':
			u.brace = true
		case ',':
			u.braceSep = u.braceSep || u.brace
		case '.':
			if u.brace && u.prev == '.' {
				u.braceSep = true
			}
		case '$', '`':
			u.expanded()
		}
		if at := strings.IndexByte("{,}*?[", c); at >= 0 {
			u.mark(c, "\x01\x02\x03\x04\x05\x06"[at])
		} else {
			u.write(s[i : i+1])
		}
		u.prev = c
	}
}

// doubleQuoted reads a literal inside double quotes.
func (u *unquoter) doubleQuoted(s string, last bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0:
			i++
			if s[i] != '\n' {
				u.write(s[i : i+1])
			}
			continue
		case c == '`', c == '$' && !(last && i == len(s)-1):
			u.expanded()
		}
		u.write(s[i : i+1])
	}
}
