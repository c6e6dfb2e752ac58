package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	safe "github.com/perdure/perdure/internal/plain"
)

// plain makes text that a model, a command or a person wrote safe for a terminal.
func plain(s string) string { return safe.Text(s) }

// oneline shows text on one line of at most n characters.
func oneline(s string, n int) string { return safe.Line(s, n) }

// shown is oneline of what a person judges or relies on: what does not show by itself shows as its number.
func shown(s string, n int) string { return safe.Shown(s, n) }

// json prints one value as one line.
func (a *App) json(v any) error { return encoder(a.Stdout).Encode(v) }

// encoder writes JSON lines in which text is not escaped more than JSON and a terminal need.
func encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(escaper{w})
	e.SetEscapeHTML(false)
	return e
}

// escaper escapes the control characters that JSON allows as they are: DEL and the C1 set, which some terminals obey, and
// the invisible ones that turn the direction of text or hide in it. They can only stand in strings. An encoder writes whole lines, so no character comes in two pieces.
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

// linef prints one line of a result.
func (a *App) linef(format string, args ...any) { _, _ = fmt.Fprintf(a.Stdout, format+"\n", args...) }

// age is how long ago a time in ms UTC was.
func (a *App) age(ms int64) string {
	if ms == 0 {
		return "-"
	}
	d := a.Now().Sub(time.UnixMilli(ms))
	if d < time.Second {
		return "now"
	}
	return safe.Span(d)
}

// ago is age in a sentence.
func (a *App) ago(ms int64) string {
	if age := a.age(ms); age != "now" {
		return age + " ago"
	}
	return "just now"
}

// money shows a cost in US dollars; nil is unknown.
func money(usd *float64) string {
	if usd == nil {
		return "?"
	}
	return fmt.Sprintf("$%.4f", *usd)
}

// size shows a number of bytes.
func size(n int64) string { return safe.Size(n) }

// local is a time in ms UTC as this terminal's clock shows it, with its zone.
func (a *App) local(ms int64) string { return a.clock(ms).Format("2006-01-02 15:04:05 Z07:00") }

// clock is a time in ms UTC in the zone of whoever looks; nil is UTC.
func (a *App) clock(ms int64) time.Time {
	zone := a.Zone
	if zone == nil {
		zone = time.UTC
	}
	return time.UnixMilli(ms).In(zone)
}

// grouped writes a number with its digits in groups of three.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count writes a number of things: 1 turn, 2 turns.
func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, y := strings.CutSuffix(thing, "y"); y {
		return grouped(n) + " " + stem + "ies"
	}
	return grouped(n) + " " + thing + "s"
}
