package composer

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// enter sends what is written, or makes a new line after a backslash. What is typed from then on is the next message.
func (c *Composer) enter() tea.Cmd {
	line := c.buf.lines[c.buf.cur.line].text[:c.buf.cur.off]
	if n := len(line) - len(strings.TrimRight(line, `\`)); n%2 == 1 {
		at := pos{c.buf.cur.line, c.buf.cur.off - 1}
		c.buf.replace(at, c.buf.cur, "\n")
		return nil
	}
	return tea.Batch(c.typedPath(), c.send())
}

// send gives the message to the owner, once all images are read.
func (c *Composer) send() tea.Cmd {
	d := c.Draft()
	if d.Empty() {
		return nil
	}
	if name, ok := c.reading(); ok {
		c.sending = true
		c.note = note{text: "reading " + name}
		return nil
	}
	c.past.add(d)
	c.clear()
	return func() tea.Msg { return SentMsg{Draft: d} }
}

// stopSending keeps a message here that waits for its images.
func (c *Composer) stopSending() {
	if c.sending {
		c.sending, c.note = false, note{}
	}
}

// clearAll takes all text away and keeps it, in the history and for ctrl+y.
func (c *Composer) clearAll() {
	c.killed = c.buf.text()
	c.past.add(c.Draft())
	c.clear()
}

// clear begins a new message. What was written is in the history; undoing goes back to here and no further.
func (c *Composer) clear() {
	c.close()
	c.sending, c.recalled, c.pastes = false, false, 0
	b := newBuffer(c.labelOf)
	c.buf = b
	c.top = pos{}
	c.past.leave()
	c.sweep()
}
