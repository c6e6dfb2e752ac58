package composer

import (
	"fmt"
	"strings"

	"github.com/perdure/perdure/internal/plain"
)

// attachment is what a chip stands for.
type attachment struct {
	part  Part   // nil while the image is read
	label string // what the screen shows
	raw   string // what was typed or pasted, while the image is read
	path  string
}

// maxHeld bounds what is attached at once, or was and can be brought back, in bytes.
const maxHeld = 64 << 20

// room reports whether so many bytes more can be attached.
func (c *Composer) room(bytes int) bool {
	for _, a := range c.chips {
		switch p := a.part.(type) {
		case Pasted:
			bytes += len(p.Text)
		case Image:
			bytes += len(p.Data)
		case Text, nil:
		}
	}
	return bytes <= maxHeld
}

// chip gives an attachment its character, and a number if there is one like it already.
func (c *Composer) chip(a *attachment) rune {
	for c.chips[c.nextChip] != nil {
		c.nextChip++
	}
	r := c.nextChip
	if c.nextChip++; c.nextChip > lastChip {
		c.nextChip = firstChip
	}
	a.label = c.unlike(r, a.label)
	c.chips[r] = a
	return r
}

// unlike numbers the label of a chip if another one has the same: in an editor the label is all that is left of it.
func (c *Composer) unlike(chip rune, label string) string {
	used := map[string]bool{}
	for r, other := range c.chips {
		if r != chip {
			used[other.label] = true
		}
	}
	fresh := label
	for n := 2; used[fresh]; n++ {
		fresh = numbered(label, n)
	}
	return fresh
}

// pastedChip gives a long text its chip. Those of one message are numbered.
func (c *Composer) pastedChip(p Pasted) rune {
	label := pastedLabel(p)
	if c.pastes++; c.pastes > 1 {
		label = numbered(label, c.pastes)
	}
	return c.chip(&attachment{part: p, label: label})
}

func pastedLabel(p Pasted) string {
	if p.Lines == 1 {
		return "[pasted " + size(len(p.Text)) + "]"
	}
	return fmt.Sprintf("[pasted %s lines]", plain.Grouped(int64(p.Lines)))
}

func numbered(label string, n int) string {
	return fmt.Sprintf("%s #%d]", strings.TrimSuffix(label, "]"), n)
}

func (c *Composer) labelOf(r rune) string {
	if a := c.chips[r]; a != nil {
		return a.label
	}
	return "[gone]"
}

// sweep forgets attachments that nothing can bring back: they may be megabytes.
func (c *Composer) sweep() {
	if len(c.chips) == 0 {
		return
	}
	held := map[rune]bool{}
	hold := func(s string) {
		for _, r := range s {
			if isChip(r) {
				held[r] = true
			}
		}
	}
	hold(c.buf.text())
	hold(c.killed)
	for _, list := range [][]change{c.buf.past, c.buf.future} {
		for _, ch := range list {
			hold(ch.in)
			hold(ch.out)
		}
	}
	for r := range c.chips {
		if !held[r] {
			delete(c.chips, r)
		}
	}
}

func imageLabel(name string, data []byte) string {
	return fmt.Sprintf("[image %s %s]", plain.Line(name, 40), Describe(data))
}

// size shows a number of bytes shortly.
func size(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1024:
		return fmt.Sprintf("%d KB", (n+512)/1024)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

func countLines(s string) int { return strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1 }
