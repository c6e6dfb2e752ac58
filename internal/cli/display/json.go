package display

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	safe "github.com/perdure/perdure/internal/plain"
)

// Encoder writes JSON lines in which text is not escaped more than JSON and a terminal need.
func Encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(escaper{w})
	e.SetEscapeHTML(false)
	return e
}

// escaper escapes the control characters that JSON allows as they are: DEL and the C1 set, which some terminals obey,
// and the invisible ones that turn the direction of text or hide in it. They can only stand in strings. An encoder
// writes whole lines, so no character comes in two pieces.
type escaper struct{ w io.Writer }

func (e escaper) Write(b []byte) (int, error) {
	if !bytes.ContainsFunc(b, unseen) {
		return e.w.Write(b)
	}
	out := make([]byte, 0, len(b)+64)
	for _, r := range string(b) {
		switch {
		case unseen(r) && r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
			continue
		case unseen(r):
			out = fmt.Appendf(out, `\u%04x`, r)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	if _, err := e.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// unseen reports whether a character is not seen itself, and so may hide or control how others are shown. The control
// characters of ASCII are JSON's own matter.
func unseen(r rune) bool { return r >= 0x7f && safe.Hidden(r) }
