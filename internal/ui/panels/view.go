package panels

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// The least room in which a page makes sense, in cells.
const (
	minWidth  = 24
	minHeight = 5
)

// body is how many lines there are between the title and the keys.
func (p *Page) body() int { return max(p.height-2, 1) }

// View draws the page: exactly its height in lines, each exactly as wide as it is.
func (p *Page) View() string {
	if p.width < minWidth || p.height < minHeight {
		text := fmt.Sprintf("too small: %d×%d", p.width, p.height)
		return strings.Join(theme.Block([]string{text}, p.width, p.height), "\n")
	}
	lines := make([]string, 0, p.height)
	lines = append(lines, p.titleLine())
	if p.detail != nil {
		lines = append(lines, p.detailLines()...)
	} else {
		lines = append(lines, p.rowLines()...)
	}
	lines = theme.Block(lines, p.width, p.height-1)
	lines = append(lines, theme.Fit(p.footLine(), p.width))
	return strings.Join(lines, "\n")
}

func (p *Page) titleLine() string {
	s := p.cfg.Styles
	left := s.Title.Styled(" " + p.title)
	if d := p.detail; d != nil {
		left += s.Quiet.Styled(" › ") + plain.Shown(d.key, 200)
	}
	right := s.Quiet.Styled(p.all.sum)
	switch {
	case p.failure != "" && len(p.shown) > 0: // else it has all the room below
		right = s.Bad.Styled(plain.Line(p.failure, 200))
	case p.filter.Text != "" && !p.typing && p.detail == nil:
		right = s.Accent.Styled("/" + plain.Line(p.filter.Text, 30))
	case p.detail != nil:
		right = ""
		if n := len(p.detail.lines); n > p.body() {
			right = s.Quiet.Styled(fmt.Sprintf("%d–%d of %d", p.detail.top+1, min(p.detail.top+p.body(), n), n))
		}
	}
	return side(left, right, p.width)
}

// side puts one text on the left and one on the right, as far as there is room: the right one comes first.
func side(left, right string, width int) string {
	w := ansi.StringWidth(right)
	if right == "" || w+8 > width {
		if right != "" {
			return theme.Cut(right, width)
		}
		return theme.Cut(left, width)
	}
	return theme.Fit(left, width-w-2) + " " + right + " "
}

func (p *Page) rowLines() []string {
	s := p.cfg.Styles
	if len(p.shown) == 0 {
		text := p.all.none
		switch {
		case !p.looked:
			text = "looking…"
		case p.filter.Text != "":
			text = "nothing matches; esc shows all"
		case p.failure != "":
			return p.failureLines()
		}
		return []string{"", s.Quiet.Styled("  " + text)}
	}
	var lines []string
	for i, to := p.list.Visible(); i < to; i++ {
		line := p.shown[i].text
		if !p.shown[i].more {
			line = p.all.rows[p.shown[i].row].draw(p.width - 2)
		}
		if i == p.list.At() {
			lines = append(lines, s.Accent.Styled("▌")+" "+line)
		} else {
			lines = append(lines, "  "+line)
		}
	}
	return lines
}

// failureLines say why there is nothing to see.
func (p *Page) failureLines() []string {
	s, lines := p.cfg.Styles, []string{""}
	const most = 1000 // characters
	for _, l := range strings.Split(ansi.Wrap(plain.Line(p.failure, most), max(p.width-4, 1), ""), "\n") {
		lines = append(lines, "  "+s.Bad.Styled(strings.TrimSpace(l)))
	}
	return append(lines, "", s.Quiet.Styled("  r tries again"))
}

func (p *Page) detailLines() []string {
	d := p.detail
	if d.n != 0 {
		return []string{"", p.cfg.Styles.Quiet.Styled("  looking…")}
	}
	var lines []string
	for _, l := range d.lines[min(d.top, len(d.lines)):min(d.top+p.body(), len(d.lines))] {
		lines = append(lines, "  "+l)
	}
	return lines
}

// filterLine is the filter as it is typed, and where the cursor stands in it.
func (p *Page) filterLine() (line string, x int) {
	return p.filter.View(p.cfg.Styles, " /", "  enter keeps, esc clears", p.width)
}

// Cursor is where text is typed, from the page's top left; nil: nowhere.
func (p *Page) Cursor() *tea.Cursor {
	if !p.typing || p.width < minWidth || p.height < minHeight {
		return nil
	}
	_, x := p.filterLine()
	return theme.Cursor(x, p.height-1)
}

func (p *Page) footLine() string {
	s := p.cfg.Styles
	switch {
	case p.sure != nil:
		const answers = " y/N"
		return s.Bold.Styled(theme.Cut(" Take back "+plain.Shown(p.sure.name, 500)+"?", p.width-len(answers))) + s.Bold.Styled(answers)
	case p.note != "" && p.wrong:
		return s.Bad.Styled(" " + plain.Line(p.note, 1000))
	case p.note != "":
		return " " + plain.Line(p.note, 1000)
	case p.typing:
		line, _ := p.filterLine()
		return line
	case p.detail != nil:
		return s.Keys([]theme.Key{{Press: "↑↓", Does: "scroll"}, {Press: "esc", Does: "back"}, {Press: "pgup pgdn", Does: "page"}}, p.width)
	}
	keys := []theme.Key{{Press: "↑↓", Does: "select"}, {Press: "esc", Does: "close"}, {Press: "/", Does: "filter"}, {Press: "r", Does: "look again"}, {Press: "pgup pgdn home end", Does: "move"}}
	if p.list.At() < 0 {
		keys[0].Does = "scroll"
	}
	if p.opens != "" && p.list.At() >= 0 {
		keys = append([]theme.Key{keys[0], {Press: "enter", Does: p.opens}}, keys[1:]...)
	}
	if p.selected().drop != nil {
		keys = slices.Insert(keys, 3, theme.Key{Press: "x", Does: "take back"})
	}
	return s.Keys(keys, p.width)
}
