package composer

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Bounds of the history.
const (
	walked     = 200      // messages of earlier that up reaches
	maxLocal   = 100      // messages of this composer
	maxHistory = 32 << 20 // bytes of them
	patience   = 10 * time.Second
)

// past is what was written before, and where up and down are in it.
type past struct {
	local  []Draft // sent or cleared here, the newest first
	stored []string
	failed string // why nothing is known of earlier sessions

	list    []Draft // while somebody walks: what was written before it, the newest first
	at      int     // -1: nobody walks
	written Draft   // what was written when it began
	edited  map[int]Draft
}

// add keeps a message.
func (p *past) add(d Draft) {
	if d.Empty() {
		return
	}
	if len(p.local) > 0 && p.local[0].String() == d.String() {
		p.local = p.local[1:] // one with attachments comes in the place of one without
	}
	p.local = append([]Draft{d}, p.local...)
	bytes := 0
	for i, d := range p.local {
		if bytes += d.bytes(); i > 0 && (i == maxLocal || bytes > maxHistory) {
			p.local = p.local[:i]
			break
		}
	}
}

func (d Draft) bytes() (n int) {
	for _, p := range d.Parts {
		switch p := p.(type) {
		case Text:
			n += len(p)
		case Pasted:
			n += len(p.Text)
		case Image:
			n += len(p.Data)
		}
	}
	return n
}

// all are the messages of here and of earlier, without duplicates.
func (p *past) all() []Draft {
	var out []Draft
	seen := map[string]bool{}
	for _, d := range p.local {
		if text := d.String(); !seen[text] {
			seen[text] = true
			out = append(out, d)
		}
	}
	for _, text := range p.stored {
		if !seen[text] {
			seen[text] = true
			out = append(out, Draft{Parts: []Part{Text(text)}})
		}
	}
	return out
}

// leave ends a walk.
func (p *past) leave() { p.list, p.edited, p.written, p.at = nil, nil, Draft{}, -1 }

type historyMsg struct {
	list []string
	err  error
}

func (c *Composer) loadHistory() tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		list, err := c.cfg.Source.Newest(ctx, walked)
		return historyMsg{list, err}
	}
}

func (c *Composer) gotHistory(msg historyMsg) {
	c.past.failed = ""
	if msg.err != nil {
		c.past.failed = msg.err.Error()
	}
	c.past.stored = nil
	for _, text := range msg.list[:min(len(msg.list), walked)] {
		c.past.stored = append(c.past.stored, clean(text))
	}
}

// upward moves a row up, and from the first one to the message before.
func (c *Composer) upward() {
	if c.buf.up(1, c.textWidth()) {
		return
	}
	p := &c.past
	if p.at < 0 {
		if p.list = p.all(); len(p.list) == 0 && p.failed != "" {
			c.note = note{text: "no history: " + p.failed, wrong: true}
		}
	}
	if p.at+1 < len(p.list) {
		c.walk(p.at + 1)
		c.buf.moveTo(lineEnd(&buffer{lines: c.buf.lines}))
	}
}

// downward moves a row down, and from the last one to the message after it.
func (c *Composer) downward() {
	if c.buf.up(-1, c.textWidth()) || c.past.at < 0 {
		return
	}
	c.walk(c.past.at - 1)
	c.buf.moveTo(c.buf.end())
}

// walk shows the message at a place of the list; -1 is what was written when the walk began. What was changed on the way
// is there again when somebody comes back.
func (c *Composer) walk(to int) {
	p := &c.past
	now := c.Draft()
	switch {
	case p.at < 0:
		p.written, p.edited = now, map[int]Draft{}
	case now.String() != p.list[p.at].String():
		p.edited[p.at] = now
	}
	show := p.written
	if to >= 0 {
		show = p.list[to]
		if d, ok := p.edited[to]; ok {
			show = d
		}
	}
	c.buf.joined = false
	c.buf.set(c.chipped(show))
	if c.recalled, p.at = to >= 0, to; to < 0 {
		p.leave()
	}
}
