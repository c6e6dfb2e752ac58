package markdown

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
)

// span is text with its way of being written.
type span struct {
	text string
	attr attr
	href string // where it leads
	end  bool   // the line ends before it
}

// piece is a part of a line.
type piece struct {
	text string
	attr attr
	href string
}

// wrapper fills lines with words.
type wrapper struct {
	r     *Renderer
	width int
	base  attr // of all that is written
	lines []string

	line []piece
	used int

	word  []piece // what stays together
	cells int     // of it
	wide  bool    // it is a character that others may be broken off
	gap   bool    // a blank comes before it
	blank piece
}

// wrap makes lines of at most width cells of spans.
func (r *Renderer) wrap(spans []span, width int, base attr) []string {
	w := wrapper{r: r, width: width, base: base}
	for _, s := range spans {
		if s.end {
			w.endWord()
			w.newline()
			w.gap = false
		}
		w.add(s)
	}
	w.endWord()
	if len(w.line) > 0 || len(w.lines) == 0 {
		w.newline()
	}
	return w.lines
}

func (w *wrapper) add(s span) {
	for text := s.text; text != ""; {
		switch n := plainWord(text); {
		case n > 0:
			if w.wide {
				w.endWord()
			}
			w.put(piece{text[:n], s.attr, s.href}, n)
			text = text[n:]
		case text[0] == ' ':
			w.endWord()
			w.gap, w.blank = true, piece{" ", s.attr, s.href}
			text = text[1:]
		default:
			c, n := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
			if len(c) == 0 {
				return
			}
			wide := n > 1
			if (wide || w.wide) && !stays(c) {
				w.endWord()
			}
			w.put(piece{c, s.attr, s.href}, n)
			w.wide = wide
			text = text[len(c):]
		}
	}
}

// plainWord is how many bytes at the start of a text are a word of ASCII, which no mark follows that combines with it.
func plainWord(s string) int {
	n := 0
	for n < len(s) && s[n] > ' ' && s[n] < 0x7f {
		n++
	}
	if n > 0 && n < len(s) && s[n] >= 0x80 {
		n--
	}
	return n
}

// stays reports a sign that is not put at the beginning of a line.
func stays(c string) bool {
	return strings.Contains("、。，．！？：；）」』】〉》〕］｝ー々", c)
}

func (w *wrapper) put(p piece, n int) {
	w.word = append(w.word, p)
	w.cells += n
}

// endWord puts the word onto the line, or onto the next one.
func (w *wrapper) endWord() {
	if len(w.word) == 0 {
		return
	}
	gap := 0
	if w.gap && w.used > 0 {
		gap = 1
	}
	if w.used+gap+w.cells > w.width && w.used > 0 {
		w.newline()
		gap = 0
	}
	if gap > 0 {
		w.line = append(w.line, w.blank)
		w.used++
	}
	if w.cells <= w.width {
		w.line = append(w.line, w.word...)
		w.used += w.cells
	} else {
		for _, p := range w.word {
			w.breakUp(p)
		}
	}
	w.word, w.cells, w.wide, w.gap = w.word[:0], 0, false, false
}

// breakUp puts as much on each line as it takes.
func (w *wrapper) breakUp(p piece) {
	for text := p.text; text != ""; {
		room := w.width - w.used
		if n := asciiRun(text); n > 0 && room > 0 {
			n = min(n, room)
			w.line, w.used = append(w.line, piece{text[:n], p.attr, p.href}), w.used+n
			text = text[n:]
			continue
		}
		c, n := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		if len(c) == 0 {
			return
		}
		text = text[len(c):]
		if n > w.width {
			c, n = "…", 1
		}
		if w.used+n > w.width {
			w.newline()
		}
		w.line, w.used = append(w.line, piece{c, p.attr, p.href}), w.used+n
	}
}

// asciiRun is how many bytes at the start of a text are a cell each, whatever follows.
func asciiRun(s string) int {
	n := 0
	for n < len(s) && s[n] >= ' ' && s[n] < 0x7f {
		n++
	}
	if n > 0 && n < len(s) && s[n] >= 0x80 {
		n--
	}
	return n
}

func (w *wrapper) newline() {
	w.lines = append(w.lines, w.r.line(w.line, w.base))
	w.line, w.used = w.line[:0], 0
}

// line writes pieces, each with its looks on and off again, so that a line can be drawn without those before it.
// Words that are written from right to left move nothing beside them.
func (r *Renderer) line(pieces []piece, base attr) string {
	if len(pieces) == 1 && r.open[pieces[0].attr|base] == "" {
		return plain.Isolated(pieces[0].text)
	}
	var b strings.Builder
	for i := 0; i < len(pieces); {
		p := pieces[i]
		look := r.open[p.attr|base]
		linked := r.Hyperlinks && p.href != ""
		if linked {
			b.WriteString(ansi.SetHyperlink(p.href))
		}
		b.WriteString(look)
		for ; i < len(pieces) && pieces[i].attr == p.attr && pieces[i].href == p.href; i++ {
			b.WriteString(pieces[i].text)
		}
		if look != "" {
			b.WriteString(ansi.ResetStyle)
		}
		if linked {
			b.WriteString(ansi.ResetHyperlink())
		}
	}
	return plain.Isolated(b.String())
}

// styled writes one text.
func (r *Renderer) styled(s string, a attr) string { return r.line([]piece{{text: s, attr: a}}, 0) }
