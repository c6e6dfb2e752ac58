// Package markdown makes lines for a terminal of Markdown, for a conversation that streams.
//
// A [Renderer] has the look; its Lines are those of a whole text, a [Stream] has those of a text that grows. Both go
// through one machine that takes the source line by line and lets go of a line of output as soon as nothing that may
// follow can change it. So a stream ends with exactly the lines of the whole text, what it has settled stays as it is,
// and what is drawn again for a few more bytes is bounded: what is open at most is a paragraph of 4 KiB, the first
// rows of a table, or a line of code.
//
// That is why it reads Markdown itself. A parser for whole documents begins anew for each delta, and what is open may
// be one list or one block of code of many pages; and a link that is defined at the end changes what was said at the
// beginning. What is understood is what models write: CommonMark's blocks and spans with tables, task lists and
// struck-out text, but no definitions of links (they are shown), and HTML is text.
//
// Whatever the text, no byte of it steers the terminal: every line goes through package plain first, and so does what a
// character reference stands for. A sequence that a terminal would obey ends at the end of its line at the latest.
package markdown

import (
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/theme"
)

// Renderer draws Markdown. It does not change after the first use, so that many goroutines may share one.
type Renderer struct {
	// Hyperlinks has the addresses of links understood by terminals that can open them (OSC 8). They are shown either way.
	Hyperlinks bool

	open [attrs]string // what switches a way of writing on; empty: there is none
	keep attr          // ways of writing that have no look here, so that their marks stay
}

// attr is a way of writing: bits for spans, which combine, and one of several values for code.
type attr uint8

const (
	strong attr = 1 << iota
	emph
	struck
	code
	link
	quiet
	title
	attrs int = 1<<7 + 8
)

// Ways of writing code.
const (
	codeWord attr = 1<<7 + iota
	codeText
	codeNote
	codeNumber
	codeAdded
	codeRemoved
	codePlace
)

// New is a renderer with that look. Where a way of writing has no look, the marks of the source stay.
func New(s theme.Styles) *Renderer {
	r := &Renderer{}
	looks := []ansi.Style{s.Bold, s.Italic, s.Struck, s.Code, s.Under, s.Quiet, s.Title}
	for a := range 1 << len(looks) {
		var all ansi.Style
		for i, look := range looks {
			if a&(1<<i) != 0 {
				all = append(all, look...)
			}
		}
		r.open[a] = opens(all)
	}
	// No colour is readable on all of the common backgrounds: in code it is the way of writing that differs, and
	// strings and numbers are as they are.
	for i, look := range []ansi.Style{s.Bold, {}, s.Italic, {}, s.Added, s.Removed, s.Italic} {
		r.open[int(codeWord)+i] = opens(look)
	}
	for i, look := range looks[:4] {
		if len(look) == 0 {
			r.keep |= 1 << i
		}
	}
	return r
}

func opens(s ansi.Style) string {
	if len(s) == 0 {
		return ""
	}
	return s.String()
}

// Lines are the lines of a text, none wider than width, which is at least 1.
func (r *Renderer) Lines(text string, width int) []string {
	m := machine{r: r, width: max(width, 1)}
	rest := reader{}
	rest.add(text)
	for l, ok := rest.next(); ok; l, ok = rest.next() {
		m.feed(l)
	}
	m.end(rest.last())
	return m.out
}
