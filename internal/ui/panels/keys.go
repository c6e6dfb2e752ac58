package panels

import (
	"context"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/plain"
)

// maxFilter bounds what is looked for, in characters.
const maxFilter = 100

func (p *Page) key(msg tea.KeyPressMsg) tea.Cmd {
	if p.typing {
		p.typeFilter(msg)
		return nil
	}
	page := max(p.body()-1, 1)
	switch msg.String() {
	case "up", "k":
		p.move(-1)
	case "down", "j":
		p.move(1)
	case "pgup", "b", "ctrl+u":
		p.move(-page)
	case "pgdown", "space", "ctrl+d":
		p.move(page)
	case "home", "g":
		p.move(-len(p.all.rows) - p.length())
	case "end", "G":
		p.move(len(p.all.rows) + p.length())
	case "/":
		p.typing = p.detail == nil
	case "r":
		return p.Refresh()
	case "enter", "right", "l":
		return p.open()
	case "left", "h":
		p.detail = nil
	case "esc":
		p.Back()
	}
	return nil
}

func (p *Page) typeFilter(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "enter":
		p.typing = false
	case "esc":
		p.Back()
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(p.filter)
		p.setFilter(p.filter[:len(p.filter)-n])
	case "ctrl+u":
		p.setFilter("")
	case "up":
		p.move(-1)
	case "down":
		p.move(1)
	default:
		p.setFilter(p.filter + msg.Text)
	}
}

func (p *Page) setFilter(s string) {
	s = strings.TrimLeft(strings.NewReplacer("\n", " ", "\t", " ").Replace(plain.Text(s)), " ")
	if r := []rune(s); len(r) > maxFilter {
		s = string(r[:maxFilter])
	}
	was := p.selected().key
	p.filter = s
	p.arrange(was)
}

// arrange finds the rows in which all words of the filter are, and selects the one that was if it is among them.
func (p *Page) arrange(was string) {
	sought := strings.Fields(strings.ToLower(p.filter))
	p.shown = p.shown[:0]
	p.at = -1
	for i, r := range p.all.rows {
		if !matches(strings.ToLower(r.find), sought) {
			continue
		}
		if r.key != "" && (p.at < 0 || r.key == was) {
			p.at = len(p.shown)
		}
		p.shown = append(p.shown, i)
	}
	p.keepVisible()
}

func matches(in string, sought []string) bool {
	for _, w := range sought {
		if !strings.Contains(in, w) {
			return false
		}
	}
	return true
}

// length is how many lines there are to scroll through.
func (p *Page) length() int {
	if p.detail != nil {
		return len(p.detail.lines)
	}
	return len(p.shown)
}

// move goes so many rows on, over those that cannot be selected; where none can be, it scrolls.
func (p *Page) move(by int) {
	if d := p.detail; d != nil {
		d.top = clamp(d.top+by, len(d.lines)-p.body())
		return
	}
	if p.at < 0 {
		p.top = clamp(p.top+by, len(p.shown)-p.body())
		return
	}
	step := 1
	if by < 0 {
		step, by = -1, -by
	}
	last := p.at
	for i := p.at + step; i >= 0 && i < len(p.shown) && by > 0; i += step {
		by--
		if p.all.rows[p.shown[i]].key != "" {
			last = i
		}
	}
	if last == p.at && by == 0 { // only headings were in the way
		for i := p.at + step; i >= 0 && i < len(p.shown); i += step {
			if p.all.rows[p.shown[i]].key != "" {
				last = i
				break
			}
		}
	}
	p.at = last
	p.keepVisible()
}

func clamp(n, most int) int { return max(min(n, most), 0) }

// keepVisible scrolls so that the selected row is on screen, and the headings above the first one with it.
func (p *Page) keepVisible() {
	body := p.body()
	if d := p.detail; d != nil {
		d.top = clamp(d.top, len(d.lines)-body)
	}
	if p.at >= 0 {
		first := p.at
		for first > 0 && p.all.rows[p.shown[first-1]].key == "" {
			first--
		}
		if first > 0 || p.at-first >= body {
			first = p.at
		}
		p.top = min(p.top, first)
		p.top = max(p.top, p.at-body+1)
	}
	p.top = clamp(p.top, len(p.shown)-body)
}

// open shows more of the selected row.
func (p *Page) open() tea.Cmd {
	r := p.selected()
	switch {
	case p.detail != nil || r.key == "" || r.text == nil && r.fetch == nil:
		return nil
	case r.text != nil:
		p.detail = &detail{key: r.key, text: r.text, lines: r.text(max(p.width-2, 1))}
		return nil
	}
	p.opened++
	n, fetch := p.opened, r.fetch
	p.detail = &detail{n: n, key: r.key}
	width := p.width
	return func() tea.Msg {
		text, err := fetch(context.Background())
		msg := openedMsg{p: p, n: n, text: text, width: width, err: err}
		if err == nil {
			msg.lines = text(max(width-2, 1))
		}
		return msg
	}
}
