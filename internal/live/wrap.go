package live

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// wrapper breaks text that comes in pieces into lines at words. Lines that begin with a space, and those between lines
// that begin with three backticks, are left to the terminal: there, spaces mean something.
type wrapper struct {
	word   strings.Builder // begun, and not written yet
	col    int             // cells of the line that are written
	line   int             // characters of the line so far, the word's included
	marks  int             // backticks that the line begins with
	fenced bool
	asIs   bool // this line is not broken
}

// maxWord bounds what is held back, in bytes.
const maxWord = 256

// next returns what of the text so far can be written.
func (w *wrapper) next(text string, width int) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			w.flush(&out, width)
			out.WriteRune(r)
			w.col, w.line, w.marks, w.asIs = 0, 0, 0, false
			continue
		case w.line == 0 && (r == ' ' || r == '\t'):
			w.asIs = true
		case r == '`' && w.line == w.marks:
			if w.marks++; w.marks == 3 {
				w.fenced, w.asIs = !w.fenced, true
			}
		}
		w.line++
		if unicode.IsSpace(r) {
			w.flush(&out, width)
			out.WriteRune(r)
			w.col++
			continue
		}
		w.word.WriteRune(r)
		if w.word.Len() >= maxWord || w.fenced || w.asIs {
			w.flush(&out, width)
		}
	}
	return out.String()
}

// flush writes the word that was begun, on a new line if it does not fit.
func (w *wrapper) flush(out *strings.Builder, width int) {
	word := w.word.String()
	w.word.Reset()
	cells := ansi.StringWidth(word)
	if !w.asIs && !w.fenced && w.col > 0 && cells <= width && w.col+cells > width {
		out.WriteByte('\n')
		w.col = 0
	}
	out.WriteString(word)
	w.col += cells
}

// rest returns what was held back, and forgets the line.
func (w *wrapper) rest(width int) string {
	var out strings.Builder
	w.flush(&out, width)
	*w = wrapper{}
	return out.String()
}
