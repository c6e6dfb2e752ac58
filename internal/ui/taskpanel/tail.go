package taskpanel

import (
	"bytes"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// tail is the output of the selected task, as far as it is looked at.
type tail struct {
	key     Key
	attempt int
	asking  bool
	known   bool
	err     string
	lines   []string // clean, not wrapped
	from    int64    // offset of the first one
	end     int64
	back    int // rows scrolled up from the end; 0 follows
	wrap    bool
}

func (v *tail) reset(t Task) {
	*v = tail{key: t.Key, attempt: t.Attempt, wrap: v.wrap, asking: v.asking}
}

func (v *tail) scroll(by int) { v.back = max(v.back+by, 0) }

func (m *Model) gotTail(msg tailMsg) {
	v := &m.tail
	v.asking = false
	switch {
	case msg.key != v.key:
		return // somebody has moved on: the next beat asks for the right one
	case msg.err != nil:
		v.err = msg.err.Error()
		return
	}
	v.err = ""
	if v.known && msg.tail.End == v.end {
		return
	}
	v.known, v.from, v.end = true, msg.tail.From, msg.tail.End
	v.lines = cleanLines(msg.tail.Bytes, msg.tail.From > 0)
}

// maxLine bounds a line that is shown, in bytes.
const maxLine = 4 << 10

// cleanLines makes output fit to show. torn says that the first line has begun before.
func cleanLines(b []byte, torn bool) []string {
	if i := bytes.IndexByte(b, '\n'); torn && i >= 0 && i < len(b)-1 {
		b = b[i+1:]
	}
	b = bytes.TrimSuffix(b, []byte("\n"))
	if len(b) == 0 {
		return nil
	}
	lines := strings.Split(string(b), "\n")
	for i, l := range lines {
		lines[i] = cleanLine(l)
	}
	return lines
}

// cleanLine shows one line as a terminal would in the end, but for what steers the terminal: of a progress bar drawn
// with carriage returns the last state, tabs as spaces, no escape sequences.
func cleanLine(s string) string {
	s = strings.TrimRight(s, "\r")
	s = s[strings.LastIndexByte(s, '\r')+1:]
	s = s[:min(len(s), maxLine)]
	s = plain.Text(erase(strings.ToValidUTF8(s, "\uFFFD")))
	if !strings.ContainsRune(s, '\t') {
		return s
	}
	var out strings.Builder
	for i, cell := range strings.Split(s, "\t") {
		if i > 0 {
			const stop = 8
			out.WriteString(strings.Repeat(" ", stop-ansi.StringWidth(out.String())%stop))
		}
		out.WriteString(cell)
	}
	return out.String()
}

// erase applies backspaces.
func erase(s string) string {
	if !strings.ContainsRune(s, '\b') {
		return s
	}
	out := make([]rune, 0, len(s))
	for _, r := range s {
		switch {
		case r != '\b':
			out = append(out, r)
		case len(out) > 0:
			out = out[:len(out)-1]
		}
	}
	return string(out)
}

// visible returns the rows of the output that fit, the newest at the bottom, and how many are below them.
func (v *tail) visible(width, height int) (rows []string, below int) {
	if width < 1 || height < 1 {
		return nil, 0
	}
	// Only as many lines are wrapped as are needed, from the end.
	want := height + v.back
	for i := len(v.lines) - 1; i >= 0 && len(rows) < want; i-- {
		part := []string{v.lines[i]}
		if v.wrap && ansi.StringWidth(v.lines[i]) > width {
			part = theme.Break(v.lines[i], width)
		}
		for j := len(part) - 1; j >= 0; j-- {
			rows = append(rows, part[j])
		}
	}
	v.back = min(v.back, max(len(rows)-height, 0))
	rows = rows[v.back:min(len(rows), v.back+height)]
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows, v.back
}
