// Package chooser is a page on which a person chooses one of a few things: each is a line, with another below it. Letters
// narrow the list at once.
//
// What is shown is taken for hostile and shown as text.
package chooser

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/list"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Row is one of the things.
type Row struct {
	Key   string // what it is known by, once among all
	Line  string
	About string // quiet words below it; empty: none
}

// Page is the page. It is used from one goroutine.
type Page struct {
	style         theme.Styles
	title         string
	all           []Row
	rows          []Row // that have the words
	chosen        func(key string) tea.Msg
	field         list.Field
	list          list.List[string]
	width, height int
}

// The least room in which the page makes sense, in cells.
const (
	minWidth  = 16
	minHeight = 4
)

// New makes a page; chosen makes the message that enter sends, and that of esc for an empty key.
func New(style theme.Styles, title string, rows []Row, chosen func(key string) tea.Msg) *Page {
	p := &Page{style: style, title: plain.Line(title, 200), all: rows, chosen: chosen}
	p.narrow()
	return p
}

// Init begins nothing.
func (p *Page) Init() tea.Cmd { return nil }

// Typing tells that letters narrow the list, and that esc is the page's own.
func (p *Page) Typing() bool { return true }

// SetSize gives the page its room, in cells.
func (p *Page) SetSize(width, height int) {
	p.width, p.height = width, height
	p.list.Room(p.shown())
}

// shown is how many rows have room: a title and a line of keys stand around them, and each has two lines.
func (p *Page) shown() int { return max((p.height-2)/2, 1) }

func (p *Page) narrow() {
	p.rows = nil
	for _, r := range p.all {
		if list.Matches(p.field.Text, r.Line, r.About) {
			p.rows = append(p.rows, r)
		}
	}
	p.list.Set(len(p.rows), func(i int) (string, bool) { return p.rows[i].Key, true })
}

// Update takes a key.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		if p.field.Paste(msg.Content) {
			p.narrow()
		}
	case tea.KeyPressMsg:
		if by, ok := list.Step(msg.String(), p.shown(), true); ok {
			p.list.Move(by)
			return nil
		}
		switch msg.String() {
		case "enter":
			if key, ok := p.list.Selected(); ok && len(p.rows) > 0 {
				return func() tea.Msg { return p.chosen(key) }
			}
			return nil
		case "esc":
			if p.field.Text == "" {
				return func() tea.Msg { return p.chosen("") }
			}
			p.field.Text = ""
			p.narrow()
			return nil
		}
		if p.field.Key(msg) {
			p.narrow()
		}
	}
	return nil
}

// View draws the page.
func (p *Page) View() string {
	if p.width < minWidth || p.height < minHeight {
		return strings.Join(theme.Block([]string{"too small"}, p.width, p.height), "\n")
	}
	s := p.style
	head, _ := p.head()
	lines := []string{head}
	from, to := p.list.Visible()
	for i := from; i < to; i++ {
		r, lead, look := p.rows[i], "  ", s.Title
		if i == p.list.At() {
			lead = s.Accent.Styled("▌ ")
		} else {
			look = nil
		}
		lines = append(lines, theme.Fit(lead+look.Styled(theme.Cut(plain.Line(r.Line, 1000), p.width-2)), p.width))
		lines = append(lines, theme.Fit("    "+s.Quiet.Styled(theme.Cut(plain.Line(r.About, 1000), p.width-4)), p.width))
	}
	if len(p.rows) == 0 {
		lines = append(lines, s.Quiet.Styled("  nothing has these words; esc clears"))
	}
	lines = theme.Block(lines, p.width, p.height)
	lines[p.height-1] = s.Keys([]theme.Key{{Press: "↑↓", Does: "move"}, {Press: "enter", Does: "takes it"}, {Press: "esc", Does: "back"}}, p.width)
	return strings.Join(lines, "\n")
}

func (p *Page) head() (line string, x int) {
	return p.field.View(p.style, p.title+"  ", fmt.Sprintf("%d of %d; letters narrow it", len(p.rows), len(p.all)), p.width)
}

// Cursor is where letters go.
func (p *Page) Cursor() *tea.Cursor {
	if p.width < minWidth || p.height < minHeight {
		return nil
	}
	_, x := p.head()
	return theme.Cursor(x, 0)
}
