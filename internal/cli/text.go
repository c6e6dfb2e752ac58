package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"
)

// plain makes text that a model, a command or a person wrote safe for a terminal: escape sequences go as a whole, so
// that no parameters of theirs stay behind, and then every other control character. Newlines and tabs stay.
func plain(s string) string {
	if !strings.ContainsAny(s, "\x1b\u009b\u009d\u0090\u0098\u009e\u009f") {
		return clean(s)
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
	return clean(b.String())
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
		end := len(s)
		for _, mark := range []string{"\a", "\x1b\\", "\u009c"} {
			if i := strings.Index(s[n:], mark); i >= 0 {
				end = min(end, n+i+len(mark))
			}
		}
		return end
	}
	if r == '\x1b' {
		return n
	}
	return 0
}

// oneline shows text on one line of at most n characters.
func oneline(s string, n int) string {
	// What is cut off need not be looked at: a command's text may be megabytes.
	if limit := 16 * n; len(s) > limit {
		s = s[:limit]
	}
	s = strings.Join(strings.Fields(plain(strings.ToValidUTF8(s, "\uFFFD"))), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// json prints one value as one line.
func (a *App) json(v any) error { return encoder(a.Stdout).Encode(v) }

// encoder writes JSON lines in which text is not escaped more than JSON and a terminal need.
func encoder(w io.Writer) *json.Encoder {
	e := json.NewEncoder(escaper{w})
	e.SetEscapeHTML(false)
	return e
}

// escaper escapes the control characters that JSON allows as they are: DEL and the C1 set, which some terminals obey.
// They can only stand in strings. An encoder writes whole lines, so no character comes in two pieces.
type escaper struct{ w io.Writer }

func (e escaper) Write(b []byte) (int, error) {
	if !bytes.ContainsFunc(b, isC1) {
		return e.w.Write(b)
	}
	out := make([]byte, 0, len(b)+64)
	for _, r := range string(b) {
		if isC1(r) {
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

func isC1(r rune) bool { return r >= 0x7f && r <= 0x9f }

// linef prints one line of a result.
func (a *App) linef(format string, args ...any) { _, _ = fmt.Fprintf(a.Stdout, format+"\n", args...) }

// table prints rows in aligned columns. Cells are made safe.
func (a *App) table(rows [][]string) error {
	out := bufio.NewWriter(a.Stdout)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			sep := "\t"
			if i == len(row)-1 {
				sep = "\n"
			}
			if _, err := io.WriteString(w, oneline(cell, maxCell)+sep); err != nil {
				return err
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return out.Flush()
}

// maxCell bounds a table's cell, in characters.
const maxCell = 100

// age is how long ago a time in ms UTC was.
func (a *App) age(ms int64) string {
	if ms == 0 {
		return "-"
	}
	d := a.Now().Sub(time.UnixMilli(ms))
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
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
func size(n int64) string {
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
