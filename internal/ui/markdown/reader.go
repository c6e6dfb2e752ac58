package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
)

// maxLine bounds a line of the source, in bytes: a longer one goes on in the next, as if it had been broken there.
const maxLine = 2 << 10

// line is one line of the source, or a part of a long one.
type line struct {
	text string
	more bool // it goes on with the line before
}

// reader makes lines of a text that comes in pieces, the same ones whatever the pieces are.
type reader struct {
	text string // what has not become lines
	more bool   // it goes on with a line that has
}

func (r *reader) add(s string) {
	if r.text == "" {
		r.text = s
		return
	}
	r.text += s
}

// next is the next line that is whole.
func (r *reader) next() (l line, ok bool) {
	end := strings.IndexByte(r.text[:min(len(r.text), maxLine+1)], '\n')
	if end >= 0 {
		l = line{r.text[:end], r.more}
		r.text, r.more = r.text[end+1:], false
		return l, true
	}
	if len(r.text) <= maxLine {
		return line{}, false
	}
	cut := strings.LastIndexByte(r.text[:maxLine], ' ') + 1
	if cut < maxLine/2 {
		cut = maxLine
		for back := 0; back < utf8.UTFMax && !utf8.RuneStart(r.text[cut]); back++ {
			cut--
		}
	}
	l = line{r.text[:cut], r.more}
	r.text, r.more = r.text[cut:], true
	return l, true
}

// last is what is left when nothing more comes; it has no end of line.
func (r *reader) last() line { return line{r.text, r.more} }

// show makes a line fit to be shown: nothing in it steers a terminal, and tabs are blanks.
func show(s string) string {
	plainly := true
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			plainly = false
			break
		}
	}
	if plainly {
		return s
	}
	s = plain.Joined(s)
	s = strings.ReplaceAll(s, "\n", "")
	if !strings.Contains(s, "\t") {
		return s
	}
	const stop = 4
	var b strings.Builder
	at := 0
	for i, cell := range strings.Split(s, "\t") {
		if i > 0 {
			n := stop - at%stop
			b.WriteString(strings.Repeat(" ", n))
			at += n
		}
		b.WriteString(cell)
		at += ansi.StringWidth(cell)
	}
	return b.String()
}
