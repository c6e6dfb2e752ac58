// Package plain makes what a model, a command or a person wrote safe to show on a terminal, and words figures for the
// eyes. Whatever goes in, no byte comes out that a terminal obeys: no colour, no title, no clipboard, no answer that the
// terminal would type.
package plain

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Text makes text that a model, a command or a person wrote safe for a terminal: escape sequences go as a whole, so
// that no parameters of theirs stay behind, and then every other control character. Newlines and tabs stay.
func Text(s string) string { return clean(withoutEscapes(s)) }

// withoutEscapes leaves out escape sequences.
func withoutEscapes(s string) string {
	if !strings.ContainsAny(s, "\x1b\u009b\u009d\u0090\u0098\u009e\u009f") {
		return s
	}
	var b strings.Builder
	for s != "" {
		if n := escapeLength(s); n > 0 {
			s = s[n:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// escapeLength is how many bytes at the start of s are one escape sequence; 0 if none begins there. A sequence that
// has no end takes the rest with it: a terminal would wait for it too.
func escapeLength(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	kind := r
	if r == '\x1b' {
		if len(s) == 1 {
			return 1
		}
		var m int
		kind, m = utf8.DecodeRuneInString(s[1:])
		n += m
	}
	switch kind {
	case '[', '\u009b': // control sequence: parameters, then one final byte
		if kind == '[' && r != '\x1b' {
			return 0
		}
		for i := n; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i // no sequence after all
			}
		}
		return len(s)
	case ']', 'P', 'X', '^', '_', '\u009d', '\u0090', '\u0098', '\u009e', '\u009f': // a string up to BEL or ST
		if r != '\x1b' && kind < 0x80 {
			return 0
		}
		return n + stringEnd(s[n:])
	}
	switch {
	case r != '\x1b':
		return 0
	case kind < ' ' || kind > '/':
		return n
	}
	for n < len(s) && s[n] >= ' ' && s[n] <= '/' { // a character set and the like: intermediates, then one final byte
		n++
	}
	return min(n+1, len(s))
}

// stringEnd is how many bytes of s belong to a string that ends with BEL or ST; all of them if it has no end.
func stringEnd(s string) int {
	for i := range len(s) {
		switch rest := s[i:]; {
		case rest[0] == '\a':
			return i + 1
		case strings.HasPrefix(rest, "\x1b\\"), strings.HasPrefix(rest, "\u009c"):
			return i + 2
		}
	}
	return len(s)
}

// Line shows text on one line of at most n characters. One that turns is isolated, by two more that do not show.
func Line(s string, n int) string {
	// What is cut off need not be looked at: a command's text may be megabytes.
	if limit := 16 * n; len(s) > limit {
		s = s[:limit]
	}
	s = strings.Join(strings.Fields(Text(strings.ToValidUTF8(s, "\uFFFD"))), " ")
	if utf8.RuneCountInString(s) > n {
		s = string([]rune(s)[:n-1]) + "…"
	}
	return Isolated(s)
}

// clean makes text that a model or a command wrote safe to show: no control characters, so that nothing but words
// reaches the terminal. Newlines and tabs stay; what only some take for the end of a line is a space.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\u2028' || r == '\u2029' {
			return ' '
		}
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, s)
}

// Size shows a number of bytes.
func Size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	v, names := float64(n), "KMGTPE"
	i := -1
	for v >= unit && i < len(names)-1 {
		v /= unit
		i++
	}
	return fmt.Sprintf("%.1f %ciB", v, names[i])
}

// Span shows a length of time in at most four cells, for the first decade.
func Span(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
