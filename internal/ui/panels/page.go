// Package panels is what a person opens beside a conversation to look something up: the plan, what the next request
// holds, the files, the cost, the keys.
//
// Each is a [Page]: a list that is scrolled, filtered and opened in one way, over a source that says what is in it. A page
// looks at its source when it is begun and whenever its owner says that something may have changed; an answer that is
// older than the newest question is dropped. It draws what is visible only. Every text is shown as text.
package panels

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/list"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Config is what all pages need.
type Config struct {
	Styles theme.Styles
	Now    func() time.Time // required
}

// row is a line of a page.
type row struct {
	key   string                   // what it is about; empty: it cannot be selected
	find  string                   // what a filter looks in; empty: it is not there when one is on
	draw  func(width int) string   // at most so wide
	rest  func(width int) []string // lines below it; nil: none
	text  func(width int) []string // what enter shows; nil: nothing
	fetch func(context.Context) (func(width int) []string, error)
	name  string                                // what it is called where it is dropped
	drop  func(context.Context) (string, error) // takes away what it is about, and says what that changes; nil: it cannot be
	fixed string                                // why not, and what can be done instead
}

// filled is what a source had to say.
type filled struct {
	rows []row
	sum  string // on the right of the title
	none string // in the place of rows, if there are none
}

// Page is one page. It is used from one goroutine, as bubbletea does.
type Page struct {
	cfg           Config
	title         string
	load          func(context.Context) (filled, error)
	opens         string // what enter does; empty: nothing
	width, height int

	asked   int // number of the newest look; answers to older ones are dropped
	opened  int // and of the newest row that was opened
	looked  bool
	failure string
	all     filled
	shown   []line // of the rows that match the filter
	list    list.List[string]
	filter  list.Field
	typing  bool
	detail  *detail
	sure    *row   // that is dropped, if the answer is yes
	note    string // until the next key
	wrong   bool   // it says what failed
}

// line is one of a row: its first, or one of the rest.
type line struct {
	row  int
	text string // of the rest
	more bool   // it is one of the rest
}

// detail is what was opened of one row.
type detail struct {
	n     int // of the question; 0: it is answered
	key   string
	text  func(width int) []string
	lines []string
	top   int
}

type (
	loadedMsg struct {
		p   *Page
		n   int
		got filled
		err error
	}
	openedMsg struct {
		p     *Page
		n     int
		text  func(width int) []string
		lines []string // of it, at a width
		width int
		err   error
	}
	droppedMsg struct {
		p    *Page
		said string
		err  error
	}
)

// Init begins to look.
func (p *Page) Init() tea.Cmd { return p.Refresh() }

// Refresh looks again: something may have changed.
func (p *Page) Refresh() tea.Cmd {
	p.asked++
	n, load := p.asked, p.load
	return func() tea.Msg {
		got, err := load(context.Background())
		return loadedMsg{p, n, got, err}
	}
}

// SetSize gives the page its room, in cells.
func (p *Page) SetSize(width, height int) {
	if d := p.detail; d != nil && width != p.width && d.text != nil {
		d.lines = d.text(max(width-2, 1))
	}
	wider := width != p.width
	p.width, p.height = width, height
	if wider {
		p.arrange()
	}
	p.list.Room(p.body())
	p.scroll(0)
}

// Typing tells that letters are the page's: a text, or an answer.
func (p *Page) Typing() bool { return p.typing || p.sure != nil }

// Back steps back inside of the page and reports whether there was anywhere to step back from.
func (p *Page) Back() bool {
	switch {
	case p.sure != nil:
		p.sure, p.note = nil, "nothing was done"
	case p.typing, p.detail == nil && p.filter.Text != "":
		p.typing, p.filter.Text = false, ""
		p.arrange()
	case p.detail != nil:
		p.detail = nil
	default:
		return false
	}
	return true
}

// Update takes a message. Those that are not the page's are ignored.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case loadedMsg:
		if msg.p == p && msg.n == p.asked {
			p.take(msg)
		}
	case openedMsg:
		if d := p.detail; msg.p == p && d != nil && msg.n == d.n {
			d.n, d.text, d.lines = 0, msg.text, msg.lines
			if msg.err != nil {
				d.text, msg.width = words(msg.err.Error()), 0
			}
			if msg.width != p.width {
				d.lines = d.text(max(p.width-2, 1))
			}
		}
	case droppedMsg:
		if msg.p == p {
			p.note, p.wrong = msg.said, msg.err != nil
			if p.wrong {
				p.note = msg.err.Error()
			}
			return p.Refresh()
		}
	case tea.PasteMsg:
		if p.typing && p.filter.Paste(msg.Content) {
			p.arrange()
		}
	case tea.KeyPressMsg:
		return p.key(msg)
	}
	return nil
}

// take shows what a source said. What was selected stays so, if it is still there.
func (p *Page) take(msg loadedMsg) {
	p.looked, p.failure = true, ""
	if msg.err != nil {
		p.failure = msg.err.Error()
		return
	}
	p.all = msg.got
	p.arrange()
}

// selected is the row that keys act on.
func (p *Page) selected() row {
	if at := p.list.At(); at >= 0 {
		return p.all.rows[p.shown[at].row]
	}
	return row{}
}
