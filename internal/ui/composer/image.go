package composer

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
)

// MaxImage bounds an image, in bytes.
const MaxImage = 5 << 20

// ErrNoFile says that there is no file of that name: what looked like a path is text.
var ErrNoFile = errors.New("there is no such file")

// imageMsg is an image that was read, or why not.
type imageMsg struct {
	chip  rune
	image Image
	err   error
}

// attach puts images in the place of what is between two places, and reads them. Until they are read they show so.
func (c *Composer) attach(paths []named, from, to pos) tea.Cmd {
	var text strings.Builder
	var cmds []tea.Cmd
	for i, p := range paths {
		if i > 0 {
			text.WriteString(" ")
		}
		r := c.chip(&attachment{label: "[reading " + plain.Line(path.Base(p.path), 40) + "]", raw: p.raw, path: p.path})
		text.WriteRune(r)
		cmds = append(cmds, c.read(r, p.path))
	}
	c.buf.joined = false
	c.buf.replace(from, to, text.String())
	c.buf.joined = false
	return tea.Batch(cmds...)
}

// read reads an image.
func (c *Composer) read(r rune, path string) tea.Cmd {
	source := c.cfg.Source
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		img, err := source.Image(ctx, path)
		if n := len(img.Data); err == nil && n > MaxImage {
			err = fmt.Errorf("it has %s, more than %s", size(n), size(MaxImage))
		}
		return imageMsg{r, img, err}
	}
}

// gotImage puts the image in its place, or what was written instead of it.
func (c *Composer) gotImage(msg imageMsg) tea.Cmd {
	a := c.chips[msg.chip]
	if a == nil || a.part != nil {
		return nil
	}
	name := path.Base(a.path)
	if msg.err == nil && !c.room(len(msg.image.Data)) {
		msg.err = errors.New("too much is attached already")
	}
	if msg.err == nil {
		msg.image.Name = oneLine(msg.image.Name)
		a.part, a.label = msg.image, c.unlike(msg.chip, imageLabel(msg.image.Name, msg.image.Data))
	} else {
		a.part, a.label = Text(a.raw), plain.Line(a.raw, 200)
		c.unchip(msg.chip, a.raw)
		if !errors.Is(msg.err, ErrNoFile) {
			c.note, c.sending = note{text: fmt.Sprintf("the image %s is not attached: %v", plain.Line(name, 80), msg.err), wrong: true}, false
		}
	}
	for i := range c.buf.lines {
		c.buf.lines[i].width = 0 // what a chip shows has changed
	}
	if _, more := c.reading(); c.sending && !more {
		c.note = note{}
		return c.send()
	}
	return nil
}

// unchip puts text in the place of a chip.
func (c *Composer) unchip(r rune, text string) {
	b := c.buf
	for i := range b.lines {
		off := strings.IndexRune(b.lines[i].text, r)
		if off < 0 {
			continue
		}
		cur, n := b.cur, len(string(r))
		b.joined = false
		b.replace(pos{i, off}, pos{i, off + n}, text)
		b.joined = false
		if cur.line != i || cur.off <= off {
			b.cur = cur
		} else {
			b.cur = b.snap(pos{i, cur.off - n + len(text)})
		}
		return
	}
}

// reading is the name of an image of the message that is still read.
func (c *Composer) reading() (name string, ok bool) {
	for _, l := range c.buf.lines {
		if isClean(l.text) {
			continue
		}
		for _, r := range l.text {
			if a := c.chips[r]; a != nil && a.part == nil {
				return plain.Line(path.Base(a.path), 80), true
			}
		}
	}
	return "", false
}

// typedPath reads the image whose path ends at the cursor, if it is one that says where it begins: a bare name in a
// sentence is no image.
func (c *Composer) typedPath() tea.Cmd {
	cur := c.buf.cur
	line := c.buf.lines[cur.line].text[:cur.off]
	from, value, ok := lastToken(line)
	if !ok || !rooted(value) {
		return nil
	}
	p, ok := imagePath(value)
	if !ok {
		return nil
	}
	return c.attach([]named{{line[from:], p}}, pos{cur.line, from}, cur)
}
