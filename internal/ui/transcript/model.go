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
	Prose Prose                            // required
	Diff  func(d Diff, width int) []string // required
	Now   func() time.Time                 // required
	Bytes int                              // of items, from which on [Model.Forget] lets go of some; 0: 6 MiB
}

// Model is a transcript. It is used from one goroutine.
type Model struct {
	cfg           Config
	width, height int

	items  []*entry
	known  map[string]*entry
	bytes  int // that the items take, about
	cache  cache
	follow bool
	top    place  // the first line on the screen, unless it follows
	sel    *entry // selected, while somebody browses
	browse bool
	all    bool // everything is open
	unseen bool // something came while the view did not follow

	printed     map[string]bool // items that were taken, so that they are not shown again
	lastPrinted *Kind           // of the newest of them
}

// entry is an item with how it is shown.
type entry struct {
	Item
	size   int // that is counted in the bytes of all
	n      int // its place in the order; neighbours differ by one
	open   bool
	full   bool // all of what is long
	cut    bool // something was left out of lines
	saying bool // more of its text is to come

	grown  *strings.Builder // Text, of an item that is said
	stream Stream           // that draws it, of Markdown that is said
	cached
}

// New makes an empty transcript.
func New(cfg Config) *Model {
	if cfg.Bytes == 0 {
		cfg.Bytes = maxBytes
	}
	return &Model{cfg: cfg, known: map[string]*entry{}, follow: true, printed: map[string]bool{}}
}

// Put adds an item at the end, or replaces the one of the same ID, of which no more is said then.
func (m *Model) Put(it Item) {
	e := m.known[it.ID]
	switch {
	case m.printed[it.ID]:
		return
	case e != nil:
		same := e.Kind == it.Kind && e.Text == it.Text
		e.Item = it
		m.weigh(e)
		m.settle(e, same)
	default:
		m.add(it)
	}
	m.unseen = m.unseen || !m.follow
	m.real()
}

func (m *Model) add(it Item) *entry {
	e := &entry{Item: it, n: 1}
	if n := len(m.items); n > 0 {
		e.n = m.items[n-1].n + 1
	}
	m.items = append(m.items, e)
	m.known[it.ID] = e
	m.weigh(e)
	return e
}

// weigh counts how large an item is by now.
func (m *Model) weigh(e *entry) {
	now := e.Item.size()
	m.bytes += now - e.size
	e.size = now
}

// gone takes an item out of what is known.
func (m *Model) gone(e *entry) {
	delete(m.known, e.ID)
	m.cache.drop(e)
	m.bytes -= e.size
	e.size = 0
}

// Say adds a piece to the text of an item, which it makes if there is none. What it costs does not grow with the text.
func (m *Model) Say(id string, kind Kind, text string) {
	if m.printed[id] {
		return
	}
	e := m.known[id]
	if e == nil {
		e = m.add(Item{ID: id, Kind: kind})
	}
	if e.grown == nil {
		e.grown = &strings.Builder{}
		e.grown.WriteString(e.Text)
	}
	if e.stream == nil && e.Kind == Text {
		e.stream = m.cfg.Prose.Stream(m.room())
		e.stream.Add(e.Text)
	}
	if e.stream != nil {
		e.stream.Add(text)
	}
	e.grown.WriteString(text)
	e.Text = e.grown.String()
	m.weigh(e)
	e.saying, e.fresh = true, false
	m.unseen = m.unseen || !m.follow
}

// Settle notes that no more is said of an item.
func (m *Model) Settle(id string) {
	if e := m.known[id]; e != nil && e.saying {
		m.settle(e, true)
	}
}

// settle ends a text that grew. A stream has the lines of the whole text: if that is the same they are kept.
func (m *Model) settle(e *entry, same bool) {
	keep := e.stream != nil && same
	if keep {
		m.linesOf(e)
	}
	e.saying, e.grown, e.stream = false, nil, nil
	e.fresh = keep
}

// Prepend adds older items at the beginning, oldest first. Those that are known already stay as they are, in the place
// that they have among the others.
func (m *Model) Prepend(items []Item) {
	older := make([]*entry, 0, len(items)+len(m.items))
	moved := map[*entry]bool{}
	for _, it := range items {
		e := m.known[it.ID]
		switch {
		case m.printed[it.ID] || moved[e]:
			continue
		case e == nil:
			e = &entry{Item: it}
			m.known[it.ID] = e
			m.weigh(e)
		}
		moved[e] = true
		older = append(older, e)
	}
	for _, e := range m.items {
		if !moved[e] {
			older = append(older, e)
		}
	}
	for i, e := range older {
		e.n = i
	}
	m.items = older
}

// Drop takes an item away. What is on the screen or selected moves to a neighbour.
func (m *Model) Drop(id string) {
	e := m.known[id]
	if e == nil {
		return
	}
	i := m.index(e)
	m.items = append(m.items[:i:i], m.items[i+1:]...)
	for _, later := range m.items[i:] {
		later.n--
	}
	m.gone(e)
	var next *entry
	if n := len(m.items); n > 0 {
		next = m.items[min(i, n-1)]
	}
	if m.sel == e {
		m.sel = next
	}
	if m.top.of == e {
		m.top = place{next, -1}
		if m.follow || next == nil || i == len(m.items) {
			m.End()
		}
	}
	m.real()
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
