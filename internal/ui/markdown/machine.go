package markdown

import (
	"slices"
	"strings"
)

// Bounds of what is open.
const (
	maxOpen  = 4 << 10 // bytes of a paragraph; a longer one is broken there
	maxBoxes = 16      // quotes and items within each other; what is deeper is text
)

// machine makes lines of output of lines of the source. All that it has to know of what came before is what is open.
type machine struct {
	r      *Renderer
	width  int
	out    []string
	before int   // lines that were taken out of out
	boxes  []box // the quotes and items in which the next line may be
	leaf   leaf
	blank  bool // blank lines came after what was drawn last
}

// kind is what is open within the boxes.
type kind uint8

const (
	nothing kind = iota
	paragraph
	fence
	table
	markup
	indented
)

// leaf is the block that is open.
type leaf struct {
	kind  kind
	text  string // of a paragraph
	begun bool   // a part of it was drawn
	gap   int    // blank lines in indented code that may belong to it

	mark   byte // of a fence
	marks  int
	indent int
	lexer  lexer

	grid grid
}

// clone is a machine that goes its own way; its output is empty.
func (m *machine) clone() machine {
	c := *m
	c.before += len(m.out)
	c.out = nil
	c.boxes = slices.Clone(m.boxes)
	c.leaf.grid.rows = slices.Clip(m.leaf.grid.rows)
	return c
}

// end takes what is left of the text, and draws all that is open.
func (m *machine) end(l line) {
	if l.text != "" {
		m.feed(l)
	}
	m.to(0)
}

// feed takes a line.
func (m *machine) feed(l line) {
	s := show(l.text)
	if l.more {
		m.goOn(s)
		return
	}
	s = strings.TrimRight(s, "\r")
	depth := 0
	rest := s
	for ; depth < len(m.boxes); depth++ {
		inside, ok := m.boxes[depth].enter(rest)
		if !ok {
			break
		}
		rest = inside
	}
	if m.leaf.kind == fence {
		if depth == len(m.boxes) {
			m.inFence(rest)
			return
		}
		m.shut()
	}
	if strings.TrimSpace(rest) == "" {
		m.empty(depth)
		return
	}
	m.block(rest, depth)
}

// empty takes a blank line.
func (m *machine) empty(depth int) {
	if m.leaf.kind == indented && depth == len(m.boxes) {
		m.leaf.gap++
		return
	}
	m.to(depth)
	m.blank = true
}

// block takes a line that is in so many of the boxes, and not blank.
func (m *machine) block(rest string, depth int) {
	fresh := false // it begins a box, so what was open is shut
	for {
		inside, ok := m.openBox(rest, depth, fresh)
		if !ok {
			break
		}
		rest, depth, fresh = inside, len(m.boxes), true
	}
	if strings.TrimSpace(rest) == "" {
		return
	}
	whole := depth == len(m.boxes) && !fresh // it may go on with what is open
	in, t := indentOf(rest)
	if in < 4 && m.leafOf(t, in, depth, whole) {
		return
	}
	m.words(rest, t, in, depth, whole, fresh)
}

// leafOf takes a line that begins a block or goes on with one by its looks.
func (m *machine) leafOf(t string, in, depth int, whole bool) bool {
	open := m.leaf.kind
	if open == paragraph && whole {
		if level := underline(t); level > 0 && !m.leaf.begun {
			text := m.leaf.text
			m.leaf = leaf{}
			m.heading(text, level)
			return true
		}
		if m.openTable(t) {
			return true
		}
	}
	if isRule(t) {
		m.to(depth)
		m.rule()
		return true
	}
	if text, level := hashes(t); level > 0 {
		m.to(depth)
		m.heading(text, level)
		return true
	}
	if m.openFence(t, in, depth) {
		return true
	}
	if open == table && whole && strings.Contains(t, "|") {
		m.row(t)
		return true
	}
	if open == markup && whole || open != paragraph && isMarkup(t) {
		m.markup(t, depth, open == markup && whole)
		return true
	}
	return false
}

// words takes a line that is text: of a paragraph, or of indented code.
func (m *machine) words(rest, t string, in, depth int, whole, fresh bool) {
	switch {
	case m.leaf.kind == paragraph && !fresh:
		m.addWords(t, "\n") // also when it is not in all the boxes, as people write
	case in >= 4:
		if m.leaf.kind != indented || !whole {
			m.to(depth)
			m.leaf = leaf{kind: indented}
		}
		m.inIndented(rest[4:])
	default:
		m.to(depth)
		m.leaf = leaf{kind: paragraph, text: t}
	}
}

// addWords goes on with the paragraph. One that gets too long is drawn, and goes on as another without a blank line.
func (m *machine) addWords(t, between string) {
	if len(m.leaf.text)+len(t) > maxOpen {
		m.shut()
		m.leaf = leaf{kind: paragraph, text: t, begun: true}
		return
	}
	m.leaf.text += between + t
}

// goOn takes a part of a line whose beginning came before.
func (m *machine) goOn(s string) {
	switch m.leaf.kind {
	case fence:
		m.drawCode(m.leaf.lexer.line(s))
	case indented:
		m.inIndented(s)
	case markup:
		m.markup(s, len(m.boxes), true)
	case paragraph:
		m.addWords(s, "") // a blank before it came with what was before
	case nothing, table:
		m.shut()
		m.leaf = leaf{kind: paragraph, text: strings.TrimLeft(s, " "), begun: true}
	}
}

// to shuts what is open down to so many boxes.
func (m *machine) to(depth int) {
	m.shut()
	for i := len(m.boxes) - 1; i >= depth; i-- {
		if b := m.boxes[i]; !b.quote && !b.drawn {
			m.draw([]string{""}, false) // an item without words
		}
		m.boxes = m.boxes[:i]
	}
}

// shut draws the block that is open.
func (m *machine) shut() {
	was := m.leaf
	m.leaf = leaf{}
	switch was.kind {
	case paragraph:
		m.draw(m.r.wrap(m.r.spans(was.text), m.room(), 0), false)
	case table:
		m.drawTable(&was.grid)
	case indented:
		m.blank = m.blank || was.gap > 0
	case nothing, fence, markup:
	}
}
