package composer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
)

// kind is what a popup offers.
type kind int

const (
	closed kind = iota
	commands
	files
	searching
)

// Bounds of popups.
const (
	maxPopup = 8   // rows
	offered  = 50  // rows that there are to move through
	settle   = 250 // milliseconds that names which come by themselves are shown before enter takes one
	maxQuery = 200 // bytes of a search
)

// item is a row of a popup, and what it puts into the text.
type item struct {
	text, help string // as they are shown
	insert     string
	draft      Draft // of the history
	more       bool  // there is more to choose behind it: a directory
	send       bool  // enter sends it: a command without arguments
}

// popup offers what can be put in the place of the word at the cursor, or the history.
type popup struct {
	kind     kind
	items    []item
	selected int
	from, to pos    // the word
	words    string // what is looked for
	shown    time.Time
	moved    bool // somebody has moved in it
	more     bool // what is asked now goes on where the last answer ended
	cancel   context.CancelFunc
	gone     pos // where the word begins for which it was closed
	hushed   bool
}

// open reports that there is something to see.
func (p *popup) open() bool { return len(p.items) > 0 || p.kind == searching }

func (c *Composer) close() {
	if c.popup.cancel != nil {
		c.popup.cancel()
	}
	c.serial++ // what is on its way is stale
	c.popup = popup{gone: c.popup.gone, hushed: c.popup.hushed}
}

// refresh opens, narrows or closes the popup by the word at the cursor.
func (c *Composer) refresh() tea.Cmd {
	if c.popup.kind == searching {
		return nil
	}
	w, ok := c.word()
	if !ok || c.recalled {
		c.close()
		c.popup.hushed = false
		return nil
	}
	if c.popup.hushed && c.popup.gone == w.from {
		c.close()
		return nil
	}
	if c.popup.kind != w.kind || c.popup.from != w.from {
		c.close()
		c.popup = popup{kind: w.kind}
	}
	p := &c.popup
	same := p.words == w.words && len(p.items) > 0
	p.from, p.to, p.words = w.from, w.to, w.words
	if w.kind == commands {
		p.items, p.shown = c.commandItems(w.words), c.cfg.Now()
		if p.selected = min(p.selected, len(p.items)-1); !same || p.selected < 0 {
			p.selected = 0
		}
		if len(p.items) == 0 {
			c.close()
		}
		return nil
	}
	if same {
		return nil
	}
	p.items, p.selected = likeFiles(p.items, w.words), 0 // until the answer is there
	return c.ask(w.words)
}

// popupKey reports whether a key belongs to the popup. None that writes does.
func (c *Composer) popupKey(key string) bool {
	p := &c.popup
	switch key {
	case "esc":
		return p.open()
	case "tab":
		return p.open()
	case "up", "down", "ctrl+p", "ctrl+n":
		return p.open()
	case "enter":
		return p.kind == searching || len(p.items) > 0 && c.settled() && !c.exact()
	case "ctrl+r", "ctrl+s", "ctrl+c", "ctrl+g", "backspace", "ctrl+h", "ctrl+u", "ctrl+w":
		return p.kind == searching
	}
	return false
}

// settled reports that enter means the popup: it was there before the person began to press the key. Commands are there
// with the letter that was typed; names of files come when they come.
func (c *Composer) settled() bool {
	p := &c.popup
	return p.kind != files || p.moved || c.cfg.Now().Sub(p.shown) >= settle*time.Millisecond
}

// exact reports that the word is already what the popup would make of it.
func (c *Composer) exact() bool {
	p := &c.popup
	return c.buf.between(p.from, p.to) == strings.TrimSuffix(p.items[p.selected].insert, " ")
}

// popupDo does what a key means to the popup.
func (c *Composer) popupDo(key string) tea.Cmd {
	p := &c.popup
	switch key {
	case "esc", "ctrl+c", "ctrl+g":
		word, ok := p.from, p.kind != searching
		c.close()
		if ok {
			c.popup.gone, c.popup.hushed = word, true
		}
	case "up", "ctrl+p", "ctrl+s":
		c.choose(-1)
	case "down", "ctrl+n", "ctrl+r":
		c.choose(1)
	case "tab", "enter":
		return c.take(key == "enter")
	case "backspace", "ctrl+h":
		return c.narrow(p.words[:before(p.words, len(p.words))])
	case "ctrl+u":
		return c.narrow("")
	case "ctrl+w":
		words := strings.TrimRight(p.words, " ")
		return c.narrow(words[:strings.LastIndexByte(words, ' ')+1])
	}
	return nil
}

func (c *Composer) choose(by int) {
	p := &c.popup
	p.moved = true
	if n := len(p.items); n > 0 {
		p.selected = (p.selected + by + n) % n
	}
}

// take puts the selected row into the text.
func (c *Composer) take(send bool) tea.Cmd {
	p := c.popup
	if len(p.items) == 0 {
		if p.kind == searching {
			c.close()
		}
		return nil
	}
	it := p.items[p.selected]
	c.buf.joined = false
	c.close()
	if p.kind == searching {
		c.buf.set(c.chipped(it.draft))
		c.recalled = true
		return nil
	}
	if rest := c.buf.lines[p.to.line].text[p.to.off:]; strings.HasPrefix(rest, " ") {
		it.insert = strings.TrimSuffix(it.insert, " ")
	}
	c.buf.replace(p.from, p.to, it.insert)
	c.buf.joined = false
	if send && it.send {
		return c.send()
	}
	return c.refresh()
}

// matchesMsg is the answer to a question of a popup.
type matchesMsg struct {
	serial int
	files  []File
	texts  []string
	err    error
}

// ask asks the source for what is like the words. What was asked before is not waited for.
func (c *Composer) ask(words string) tea.Cmd {
	p := &c.popup
	if p.cancel != nil {
		p.cancel()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	p.cancel = cancel
	c.serial++
	msg, source, kind := matchesMsg{serial: c.serial}, c.cfg.Source, p.kind
	return func() tea.Msg {
		defer cancel()
		if kind == searching {
			msg.texts, msg.err = source.Search(ctx, words, offered)
		} else {
			msg.files, msg.err = source.Files(ctx, words, offered)
		}
		return msg
	}
}

// gotMatches shows an answer, unless something else has been asked since.
func (c *Composer) gotMatches(msg matchesMsg) tea.Cmd {
	p := &c.popup
	if msg.serial != c.serial || p.kind != files && p.kind != searching {
		return nil
	}
	more := p.kind == searching && errors.Is(msg.err, ErrMore)
	if msg.err != nil && !more {
		c.note = note{text: "nothing is found: " + msg.err.Error(), wrong: true}
	}
	before := len(p.items)
	if p.kind == searching {
		p.items = c.historyItems(p.words, msg.texts)
	} else {
		p.items = fileItems(msg.files)
	}
	if before == 0 {
		p.shown = c.cfg.Now()
	}
	if !p.more {
		p.selected, p.moved = 0, false
	}
	p.selected = max(min(p.selected, len(p.items)-1), 0)
	if p.more = more && len(p.items) < offered; p.more {
		return c.ask(p.words)
	}
	return nil
}

// openSearch shows the history.
func (c *Composer) openSearch() tea.Cmd {
	c.close()
	c.popup = popup{kind: searching, shown: c.cfg.Now()}
	c.popup.items = c.historyItems("", nil)
	return c.ask("")
}

// searchFor adds what was typed to what is searched for.
func (c *Composer) searchFor(msg tea.KeyPressMsg) tea.Cmd {
	if !printable(msg) {
		return nil
	}
	return c.narrow(c.popup.words + oneLine(msg.Text))
}

func (c *Composer) narrow(words string) tea.Cmd {
	if len(words) > maxQuery {
		return nil
	}
	c.popup.words, c.popup.selected, c.popup.more = words, 0, false
	c.popup.items = slices.DeleteFunc(c.popup.items, func(it item) bool { return !Holds(it.draft.beginning(), words) })
	return c.ask(words)
}

// historyItems are the messages that hold the words: those of here first.
func (c *Composer) historyItems(words string, found []string) []item {
	var out []item
	seen := map[string]bool{}
	add := func(text string, d Draft) {
		if len(out) < offered && !seen[text] {
			seen[text] = true
			out = append(out, item{text: plain.Line(text, 300), draft: d})
		}
	}
	for _, d := range c.past.local {
		if text := d.beginning(); Holds(text, words) {
			add(text, d)
		}
	}
	for _, text := range found {
		text = clean(text)
		add(text, Draft{Parts: []Part{Text(text)}})
	}
	return out
}

// Holds reports whether a text has all the words, whatever their case.
func Holds(text, words string) bool {
	text = strings.ToLower(text)
	for _, w := range strings.Fields(strings.ToLower(words)) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
