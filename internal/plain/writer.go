package plain

import (
	"bytes"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Writer shows a command's output on a terminal as it comes: text, newlines, tabs, carriage returns, so that progress
// bars draw, and colours. Everything else that a terminal obeys is dropped. It is not safe for concurrent use.
type Writer struct {
	to     io.Writer
	carry  []byte // the beginning of a character or sequence whose rest has not come
	colour bool   // a colour is on, for all that is known

	inString bool // within a title, a clipboard's content or the like
}

// NewWriter shows output on a terminal.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// maxCarry bounds a sequence that is waited for, in bytes; of a longer one the rest is shown as text.
const maxCarry = 4 << 10

// Write shows p. What it has taken it will not be given again, so n is always all of p when there is no error.
func (w *Writer) Write(p []byte) (n int, err error) {
	s := string(w.carry) + string(p)
	w.carry = w.carry[:0]
	var out bytes.Buffer
	for s != "" {
		n, whole := w.next(&out, s)
		if !whole && len(s) <= maxCarry {
			w.carry = append(w.carry, s...)
			break
		}
		s = s[n:]
	}
	if _, err := w.to.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// next takes what s begins with. whole is false if more may belong to it.
func (w *Writer) next(out *bytes.Buffer, s string) (n int, whole bool) {
	if w.inString {
		return w.skip(s)
	}
	if !utf8.FullRuneInString(s) {
		return 1, false
	}
	r, n := utf8.DecodeRuneInString(s)
	head := s[:min(len(s), maxCarry)]
	if m := introducer(head); m > 0 {
		w.inString = true
		return m, true
	}
	if m := escapeLength(head); m > 0 {
		if m == len(s) && escapeLength(s+"A") > m {
			return n, false
		}
		if isColour(s[:m]) {
			w.colour = true
			out.WriteString(s[:m])
		}
		return m, true
	}
	if strings.ContainsRune("\n\t\r", r) || !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) {
		out.WriteRune(r)
	}
	return n, true
}

// skip drops what belongs to a string sequence. A newline ends one too, so that a stray beginning hides no more than
// the rest of its line.
func (w *Writer) skip(s string) (n int, whole bool) {
	n = stringEnd(s)
	if i := strings.IndexByte(s[:n], '\n'); i >= 0 {
		w.inString = false
		return i, true
	}
	if n == len(s) && !strings.HasSuffix(s, "\a") && !strings.HasSuffix(s, "\x1b\\") && !strings.HasSuffix(s, "\u009c") {
		// The first byte of what ends it may be the last one here.
		if last := s[len(s)-1]; last == '\x1b' || last == "\u009c"[0] {
			if len(s) == 1 {
				return 1, false
			}
			n--
		}
		return n, true
	}
	w.inString = false
	return n, true
}

// introducer is how many bytes begin a string sequence at the start of s; 0 if none begins there.
func introducer(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if strings.ContainsRune("\u009d\u0090\u0098\u009e\u009f", r) {
		return n
	}
	if r == '\x1b' && len(s) > 1 && strings.IndexByte("]PX^_", s[1]) >= 0 {
		return 2
	}
	return 0
}

// isColour recognises the one sequence that changes nothing but how text looks.
func isColour(s string) bool {
	const longest = 64
	body, ok := strings.CutPrefix(s, "\x1b[")
	body, last := strings.CutSuffix(body, "m")
	return ok && last && len(s) <= longest && strings.Trim(body, "0123456789;:") == ""
}

// Close leaves the terminal without colours. What was begun and not finished is dropped.
func (w *Writer) Close() error {
	w.carry = nil
	if !w.colour {
		return nil
	}
	w.colour = false
	_, err := io.WriteString(w.to, "\x1b[0m")
	return err
}
