// Package textpage shows a text to read: it is wrapped at the width that there is, and scrolls.
package textpage

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/list"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Page is a text on a page.
type Page struct {
	style         theme.Styles
	title         string
	text          []string // its lines
	lines         []string // as they are shown
	of            []int    // which line of the text each of them belongs to
	width, height int
	top           int
	find          find
}

// maxText bounds the text, in bytes; what is more is left out, and said to be.
const maxText = 4 << 20

// New makes a page of a text. It may hold anything: no byte of it that a terminal obeys is shown.
func New(style theme.Styles, title, text string) *Page {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "\n… the rest is left out here"
	}
	text = plain.Text(plain.Redrawn(strings.TrimRight(text, "\r\n")))
	return &Page{style: style, title: plain.Line(title, 200), text: strings.Split(spaced(text), "\n"), find: find{at: -1}}
}

// spaced has blanks up to the next stop for each tab.
func spaced(text string) string {
	if !strings.Contains(text, "\t") {
		return text
	}
	const stop = 8
	var b strings.Builder
	for line := range strings.Lines(text) {
		at := 0
		for i, part := range strings.Split(line, "\t") {
			if i > 0 {
				n := stop - at%stop
				b.WriteString(strings.Repeat(" ", n))
				at += n
			}
			b.WriteString(part)
			at += ansi.StringWidth(part)
		}
	}
	return b.String()
}

// Init begins nothing.
func (p *Page) Init() tea.Cmd { return nil }

// Typing tells that letters are words to find.
func (p *Page) Typing() bool { return p.find.on }

// SetSize gives the page its room, in cells. The line at the top stays there.
func (p *Page) SetSize(width, height int) {
	if width != p.width {
		p.wrap(max(width, 1))
	}
	p.width, p.height = width, height
	p.move(0)
}

// wrap lays the text out.
func (p *Page) wrap(width int) {
	top := 0
	if p.top < len(p.of) {
		top = p.of[p.top]
	}
	p.lines, p.of = p.lines[:0], p.of[:0]
	for i, line := range p.text {
		if i == top {
			p.top = len(p.lines)
		}
		for _, part := range theme.Wrap(line, width) {
			p.lines, p.of = append(p.lines, part), append(p.of, i)
		}
	}
}

func (p *Page) rows() int { return max(p.height-1, 0) }

func (p *Page) move(n int) { p.top = max(min(p.top+n, len(p.lines)-p.rows()), 0) }

// Update takes a key.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	if paste, ok := msg.(tea.PasteMsg); ok && p.find.on {
		p.find.line.Paste(paste.Content)
	}
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	p.find.none = false
	if p.find.on {
		p.findKey(k)
		return nil
	}
	switch k.String() {
	case "/":
		p.find = find{on: true, last: p.find.last, at: p.find.at}
	case "n":
		p.next(1)
	case "N":
		p.next(-1)
	case "enter":
		p.move(1)
	default:
		if by, ok := list.Step(k.String(), p.rows()-1, false); ok {
			p.move(by)
		}
	}
	return nil
}

// View draws the page: a title, and as much of the text as has room.
func (p *Page) View() string {
	if p.height <= 0 {
		return ""
	}
	title := p.style.Title.Styled(p.title)
	if len(p.lines) > p.rows() {
		title += p.style.Quiet.Styled("  / finds  " + plain.Grouped(int64(p.top+1)) + "–" + plain.Grouped(int64(min(p.top+p.rows(), len(p.lines)))) +
			" of " + plain.Grouped(int64(len(p.lines))) + " lines")
	}
	lines := []string{title}
	for i := p.top; i < min(p.top+p.rows(), len(p.lines)); i++ {
		line := p.lines[i]
		if p.of[i] == p.find.at {
			line = p.style.Accent.Styled(line)
		}
		lines = append(lines, line)
	}
	lines = theme.Block(lines, p.width, p.height)
	if words, _ := p.findLine(); words != "" && p.height > 1 {
		lines[p.height-1] = theme.Fit(words, p.width)
	}
	return strings.Join(lines, "\n")
}
