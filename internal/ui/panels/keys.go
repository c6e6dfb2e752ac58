package panels

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/list"
)

func (p *Page) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	p.note, p.wrong = "", false
	if p.sure != nil {
		return p.answered(key)
	}
	if by, ok := list.Step(key, p.body()-1, p.typing); ok {
		if p.detail != nil {
			p.scroll(by)
		} else {
			p.list.Move(by)
		}
		return nil
	}
	if p.typing {
		p.typeFilter(msg)
		return nil
	}
	switch key {
	case "/":
		p.typing = p.detail == nil
	case "x", "delete":
		p.ask()
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

// ask asks whether what the selected row is about is to be taken away, if it can be.
func (p *Page) ask() {
	switch r := p.selected(); {
	case r.drop != nil && p.detail == nil:
		p.sure = &r
	case r.fixed != "":
		p.note, p.wrong = r.fixed, true
	}
}

// answered takes the key that answers that: y does it, every other one does not.
func (p *Page) answered(key string) tea.Cmd {
	r := p.sure
	p.sure = nil
	if key != "y" && key != "Y" {
		p.note = "nothing was done"
		return nil
	}
	p.note = "…"
	return func() tea.Msg {
		said, err := r.drop(context.Background())
		return droppedMsg{p, said, err}
	}
}

func (p *Page) typeFilter(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "enter":
		p.typing = false
	case "esc":
		p.Back()
	default:
		if p.filter.Key(msg) {
			p.arrange()
		}
	}
}

// arrange finds the rows in which all words of the filter are. The one that was selected stays so if it is among them.
func (p *Page) arrange() {
	p.shown = p.shown[:0]
	for i, r := range p.all.rows {
		if list.Matches(p.filter.Text, r.find) {
			p.shown = append(p.shown, line{row: i})
			if r.rest != nil {
				for _, text := range r.rest(max(p.width-2, 1)) {
					p.shown = append(p.shown, line{row: i, text: text, more: true})
				}
			}
		}
	}
	p.list.Set(len(p.shown), func(i int) (string, bool) {
		l := p.shown[i]
		key := p.all.rows[l.row].key
		return key, key != "" && !l.more
	})
}

// scroll moves what was opened.
func (p *Page) scroll(by int) {
	if d := p.detail; d != nil {
		d.top = max(min(d.top+by, len(d.lines)-p.body()), 0)
	}
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
