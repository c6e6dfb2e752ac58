package composer

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// What is longer than either becomes an attachment; what is longer than the last is refused.
const (
	pasteLines = 200
	pasteBytes = 8 << 10
	maxPaste   = 8 << 20
)

// paste takes what was pasted: paths of images, a long text, or text.
func (c *Composer) paste(content string) tea.Cmd {
	c.note, c.sending, c.killing, c.prefix = note{}, false, false, false
	if len(content) > maxPaste {
		c.note = note{text: fmt.Sprintf("what was pasted has %s, more than %s: it was left out", size(len(content)), size(maxPaste)), wrong: true}
		return nil
	}
	text := clean(content)
	if text == "" {
		return nil
	}
	if c.popup.kind == searching {
		return c.narrow(c.popup.words + strings.NewReplacer("\n", " ", "\t", " ").Replace(text[:min(len(text), maxQuery)]))
	}
	c.recalled, c.buf.joined = false, false
	defer func() { c.buf.joined = false }()
	if paths := pastedPaths(text); paths != nil {
		return tea.Batch(c.attach(paths, c.buf.cur, c.buf.cur), c.refresh())
	}
	switch p := TextOrPasted(text).(type) {
	case Pasted:
		if !c.room(len(text)) {
			c.note = note{text: "too much is attached already: what was pasted was left out", wrong: true}
			return nil
		}
		c.buf.insert(string(c.pastedChip(p)))
	default:
		c.buf.insert(text)
	}
	return c.refresh()
}

// TextOrPasted is what a paste of a text becomes: text, or an attachment if it is long.
func TextOrPasted(text string) Part {
	if lines := countLines(text); lines > pasteLines || len(text) > pasteBytes {
		return Pasted{Text: text, Lines: lines}
	}
	return Text(text)
}
