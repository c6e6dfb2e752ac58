package transcript

import (
	"strings"
	"time"

	"github.com/perdure/perdure/internal/ui/theme"
)

// Prose makes lines of what a model writes.
type Prose interface {
	Lines(text string, width int) []string
	// Stream makes lines of a text that comes in pieces.
	Stream(width int) Stream
}

// Stream is a text that grows.
type Stream interface {
	Add(text string)
	SetWidth(width int)
	Lines() []string // valid until the next call
}

// Config is what a transcript is made of.
type Config struct {
	Style theme.Styles
	Prose Prose                                                // required
	Diff  func(name, before, after string, width int) []string // required
	Now   func() time.Time                                     // required
}

// Model is a transcript. It is used from one goroutine.
type Model struct {
	cfg           Config
	width, height int

	items  []*entry
	known  map[string]*entry
	drawn  int // entries that hold lines
	follow bool
	top    place  // the first line on the screen, unless it follows
	sel    *entry // selected, while somebody browses
	browse bool
	all    bool // everything is open
	unseen bool // something came below what is on the screen
}

// place is a line of an item.
type place struct {
	of   *entry
	line int
}

// entry is an item with how it is shown.
type entry struct {
	Item
	n      int // its place in the order; neighbours differ by one
	open   bool
	full   bool // all of a long output
	lines  []string
	width  int
	fresh  bool // lines are of the item as it is
	stream Stream
}

// maxDrawn bounds how many items hold their lines.
const maxDrawn = 600

// New makes an empty transcript.
func New(cfg Config) *Model {
	return &Model{cfg: cfg, known: map[string]*entry{}, follow: true}
}

// SetSize gives it its room, in cells.
func (m *Model) SetSize(width, height int) { m.width, m.height = width, height }

// Put adds an item at the end, or replaces the one of the same ID.
func (m *Model) Put(it Item) {
	if e := m.known[it.ID]; e != nil {
		if e.stream != nil && e.Text != it.Text {
			e.stream = nil
		}
		e.Item, e.fresh = it, false
		return
	}
	e := &entry{Item: it, n: 1}
	if n := len(m.items); n > 0 {
		e.n = m.items[n-1].n + 1
	}
	m.items = append(m.items, e)
	m.known[it.ID] = e
	m.unseen = m.unseen || !m.follow
}

// Say adds a piece to the text of an item, which it makes if there is none.
func (m *Model) Say(id string, kind Kind, text string) {
	e := m.known[id]
	if e == nil {
		m.Put(Item{ID: id, Kind: kind})
		e = m.known[id]
	}
	if kind == Text {
		if e.stream == nil {
			e.stream = m.cfg.Prose.Stream(m.room())
			e.stream.Add(e.Text)
		}
		e.stream.Add(text)
	}
	e.Text += text
	e.fresh = false
}

// Prepend adds older items at the beginning, oldest first. Those that are known already are left out.
func (m *Model) Prepend(items []Item) {
	first := 1
	if len(m.items) > 0 {
		first = m.items[0].n
	}
	var older []*entry
	for _, it := range items {
		if m.known[it.ID] == nil {
			e := &entry{Item: it}
			m.known[it.ID] = e
			older = append(older, e)
		}
	}
	for i, e := range older {
		e.n = first - len(older) + i
	}
	m.items = append(older, m.items...)
}

// Drop takes an item away.
func (m *Model) Drop(id string) {
	e := m.known[id]
	if e == nil {
		return
	}
	i := m.index(e)
	if m.top.of == e {
		m.top, m.follow = place{}, true
	}
	if m.sel == e {
		m.sel = nil
	}
	m.items = append(m.items[:i:i], m.items[i+1:]...)
	for _, later := range m.items[i:] {
		later.n--
	}
	delete(m.known, id)
}

// Len is how many items there are.
func (m *Model) Len() int { return len(m.items) }

// Item finds an item by its ID.
func (m *Model) Item(id string) (Item, bool) {
	if e := m.known[id]; e != nil {
		return e.Item, true
	}
	return Item{}, false
}

func (m *Model) index(e *entry) int { return e.n - m.items[0].n }

// room is how many cells a line of an item has, beside the margin.
func (m *Model) room() int { return max(m.width-margin, 1) }

// margin is the column that shows what is selected, and the last one, which stays free.
const margin = 2

// linesOf are the lines of an item, made anew only if it or the width has changed.
func (m *Model) linesOf(e *entry) []string {
	if e.fresh && e.width == m.width && e.lines != nil {
		return e.lines
	}
	if e.lines == nil {
		if m.drawn >= maxDrawn {
			m.forget()
		}
		m.drawn++
	}
	e.lines, e.width, e.fresh = m.draw(e), m.width, true
	if e.Kind == Tool && e.Call.State == Running {
		e.fresh = false // its time goes on
	}
	return e.lines
}

// forget drops all lines; those that are visible are made again.
func (m *Model) forget() {
	for _, e := range m.items {
		e.lines = nil
	}
	m.drawn = 0
}

// gap is how many blank lines stand before an item.
func (m *Model) gap(i int) int {
	if i == 0 {
		return 0
	}
	was, is := m.items[i-1].Kind, m.items[i].Kind
	quiet := func(k Kind) bool { return k == Tool || k == Thinking || k == Note }
	if quiet(was) && quiet(is) {
		return 0
	}
	return 1
}

// block are the lines of an item with the gap before it.
func (m *Model) block(i int) []string {
	e := m.items[i]
	lines := m.linesOf(e)
	mark := " "
	if m.browse && m.sel == e {
		mark = m.cfg.Style.Accent.Styled("▌")
	}
	out := make([]string, 0, len(lines)+1)
	if m.gap(i) > 0 {
		out = append(out, "")
	}
	for _, l := range lines {
		out = append(out, mark+l)
	}
	return out
}

// tall is how many lines block has.
func (m *Model) tall(i int) int { return m.gap(i) + len(m.linesOf(m.items[i])) }

// View draws exactly as many lines as there is room for.
func (m *Model) View() string { return strings.Join(m.Visible(), "\n") }
