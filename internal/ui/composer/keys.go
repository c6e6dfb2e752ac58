package composer

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// do is what a key does.
type do func(c *Composer) tea.Cmd

// action is what a key does to the text; nil: it has no meaning here.
func action(key string) do {
	switch key {
	case "enter":
		return (*Composer).enter
	case "shift+enter", "alt+enter", "ctrl+enter", "ctrl+j":
		return always(func(c *Composer) { c.buf.insert("\n") })
	case "up", "ctrl+p":
		return always((*Composer).upward)
	case "down", "ctrl+n":
		return always((*Composer).downward)
	case "ctrl+r":
		return (*Composer).openSearch
	case "ctrl+g":
		return (*Composer).openEditor
	case "ctrl+x":
		return always(func(c *Composer) { c.prefix = true })
	case "ctrl+c":
		return always((*Composer).clearAll)
	case "ctrl+_", "ctrl+/", "ctrl+-", "ctrl+shift+-", "ctrl+shift+_", "ctrl+7":
		return always(func(c *Composer) { c.buf.undo() })
	case "alt+_", "alt+/", "alt+shift+-", "ctrl+shift+z", "alt+z":
		return always(func(c *Composer) { c.buf.redo() })
	case "ctrl+y":
		return always(func(c *Composer) { c.buf.insert(c.killed) })
	}
	if move := motion(key); move != nil {
		return always(func(c *Composer) { c.buf.moveTo(move(c.buf)) })
	}
	return deletion(key)
}

func always(do func(c *Composer)) do {
	return func(c *Composer) tea.Cmd { do(c); return nil }
}

// motion is where a key moves the cursor.
func motion(key string) func(b *buffer) pos {
	switch key {
	case "left", "ctrl+b":
		return func(b *buffer) pos { p, _ := b.back(b.cur); return p }
	case "right", "ctrl+f":
		return func(b *buffer) pos { p, _ := b.after(b.cur); return p }
	case "alt+b", "alt+left", "ctrl+left":
		return func(b *buffer) pos { return b.wordBack(b.cur, isWord) }
	case "alt+f", "alt+right", "ctrl+right":
		return func(b *buffer) pos { return b.wordAfter(b.cur, isWord) }
	case "home", "ctrl+a":
		return func(b *buffer) pos { return pos{b.cur.line, 0} }
	case "end", "ctrl+e":
		return lineEnd
	case "ctrl+home", "alt+<", "alt+shift+,":
		return func(*buffer) pos { return pos{} }
	case "ctrl+end", "alt+>", "alt+shift+.":
		return (*buffer).end
	}
	return nil
}

func lineEnd(b *buffer) pos { return pos{b.cur.line, len(b.lines[b.cur.line].text)} }

// deletion is what a key takes away: one character, or more that ctrl+y gives back.
func deletion(key string) do {
	switch key {
	case "backspace", "ctrl+h", "shift+backspace":
		return always(func(c *Composer) { p, _ := c.buf.back(c.buf.cur); c.buf.replace(p, c.buf.cur, "") })
	case "delete", "ctrl+d":
		return always(func(c *Composer) { p, _ := c.buf.after(c.buf.cur); c.buf.replace(c.buf.cur, p, "") })
	case "ctrl+k":
		return kill(true, func(b *buffer) pos {
			if end := lineEnd(b); b.cur != end {
				return end
			}
			p, _ := b.after(b.cur)
			return p
		})
	case "ctrl+u":
		return kill(false, func(b *buffer) pos {
			if b.cur.off > 0 {
				return pos{b.cur.line, 0}
			}
			p, _ := b.back(b.cur)
			return p
		})
	case "ctrl+w":
		return kill(false, func(b *buffer) pos { return b.wordBack(b.cur, isInk) })
	case "alt+backspace", "ctrl+backspace":
		return kill(false, func(b *buffer) pos { return b.wordBack(b.cur, isWord) })
	case "alt+d", "alt+delete", "ctrl+delete":
		return kill(true, func(b *buffer) pos { return b.wordAfter(b.cur, isWord) })
	}
	return nil
}

// kill takes the text between the cursor and a place away, and keeps it. What is killed at once is kept as one.
func kill(forward bool, to func(b *buffer) pos) do {
	return always(func(c *Composer) {
		from, end := c.buf.cur, to(c.buf)
		if end.before(from) {
			from, end = end, from
		}
		text := c.buf.between(from, end)
		switch {
		case text == "":
		case !c.adding:
			c.killed = text
		case forward:
			c.killed += text
		default:
			c.killed = text + c.killed
		}
		c.buf.joined = false
		c.buf.replace(from, end, "")
		c.buf.joined, c.killing = false, true
	})
}

// Wants reports whether a key means something here now. An owner asks before it passes on a key that means something to
// itself: esc, tab, ctrl+c, ctrl+d.
func (c *Composer) Wants(msg tea.KeyPressMsg) bool {
	key := msg.Keystroke()
	switch {
	case printable(msg), c.prefix, c.popup.kind != closed && c.popupKey(key):
		return true
	case key == "ctrl+c", key == "ctrl+d":
		return !c.Empty()
	}
	return action(key) != nil
}

// printable reports a key that writes something.
func printable(msg tea.KeyPressMsg) bool {
	const silent = tea.ModShift | tea.ModCapsLock | tea.ModNumLock | tea.ModScrollLock
	return msg.Text != "" && (msg.Mod&^silent == 0 || action(msg.Keystroke()) == nil)
}

// key takes a key.
func (c *Composer) key(msg tea.KeyPressMsg) tea.Cmd {
	if !c.Wants(msg) {
		return nil
	}
	key := msg.Keystroke()
	if !c.sending {
		c.note = note{}
	}
	c.adding, c.killing = c.killing, false
	if c.prefix {
		c.prefix = false
		switch key {
		case "ctrl+e":
			return c.openEditor()
		case "ctrl+u":
			c.buf.undo()
			return c.refresh()
		case "esc":
			return nil
		}
	}
	switch {
	case c.popup.kind != closed && c.popupKey(key):
		return c.popupDo(key)
	case c.popup.kind == searching:
		return c.searchFor(msg)
	case printable(msg):
		return c.write(oneLine(msg.Text))
	}
	do := action(key)
	if do == nil {
		return nil
	}
	if deletion(key) != nil {
		c.recalled = false
	}
	if motion(key) == nil {
		c.stopSending() // the message is another one now
	}
	cmd := do(c)
	return tea.Batch(cmd, c.refresh())
}

// write puts what was typed into the text.
func (c *Composer) write(s string) tea.Cmd {
	c.stopSending()
	c.recalled = false
	var cmd tea.Cmd
	if strings.TrimSpace(s) == "" {
		cmd = c.typedPath()
	}
	c.buf.insert(s)
	return tea.Batch(cmd, c.refresh())
}
