package diffview

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"

	"github.com/perdure/perdure/internal/ui/theme"
)

// draw are the lines of a file's diff.
func (v View) draw(f file, width int) []string {
	width = max(width, 1)
	lines := []string{v.head(f, width)}
	p := page{v: v, width: width}
	p.measure(f)
	shown, last := 0, 0
	for _, h := range f.hunks {
		if len(h.rows) == 0 {
			continue
		}
		if first := h.rows[0].a; first > last+1 && last > 0 {
			lines = append(lines, p.gap(first-last-1))
		} else if first > 1 && last == 0 {
			lines = append(lines, p.gap(first-1))
		}
		if shown >= maxRows {
			break
		}
		for i, r := range h.rows[:min(len(h.rows), maxRows-shown)] {
			lines = append(lines, p.row(r, h.hot[i])...)
			last = max(last, r.a)
		}
		shown += min(len(h.rows), maxRows-shown)
	}
	return append(lines, p.rest(f, shown)...)
}

// page is how a diff is laid out.
type page struct {
	v       View
	width   int
	number  int  // cells of a number
	both    bool // the numbers of both sides
	returns bool // every line ends with a carriage return, which is not shown then
}

// measure looks at the lines that are shown.
func (p *page) measure(f file) {
	most, n := 0, 0
	p.returns = true
	for _, h := range f.hunks {
		for _, r := range h.rows {
			if n++; n > maxRows {
				break
			}
			most = max(most, r.a, r.b)
			p.returns = p.returns && strings.HasSuffix(r.text, "\r")
		}
	}
	const roomy, narrow = 60, 24
	p.number = len(strconv.Itoa(most))
	p.both = p.width >= roomy
	if p.width < narrow || f.part {
		p.number = 0
	}
}

// gap stands for lines that did not change.
func (p *page) gap(n int) string {
	text := fmt.Sprintf("⋮ %s lines", plain.Grouped(int64(n)))
	if n == 1 {
		text = "⋮ 1 line"
	}
	return p.v.styles.Quiet.Styled(theme.Cut(strings.Repeat(" ", p.number)+text, p.width))
}

// rest says what is not shown.
func (p *page) rest(f file, shown int) []string {
	total, added, removed := 0, 0, 0
	for _, h := range f.hunks {
		for _, r := range h.rows {
			if total++; total > shown {
				switch r.sign {
				case '+':
					added++
				case '-':
					removed++
				}
			}
		}
	}
	if total <= shown {
		return nil
	}
	text := fmt.Sprintf("%s more lines are not shown: +%s -%s", plain.Grouped(int64(total-shown)), plain.Grouped(int64(added)), plain.Grouped(int64(removed)))
	return []string{p.v.styles.Alert("… ", text, p.width)}
}

// margin is what stands before a line: its numbers and its sign.
func (p *page) margin(r row) string {
	if p.number == 0 {
		return string(r.sign)
	}
	number := func(n int) string {
		if n == 0 {
			return strings.Repeat(" ", p.number)
		}
		return fmt.Sprintf("%*d", p.number, n)
	}
	if p.both {
		return number(r.a) + " " + number(r.b) + " " + string(r.sign)
	}
	n := r.b
	if r.sign == '-' {
		n = r.a
	}
	return number(n) + " " + string(r.sign)
}

// row is a line of the diff, as many lines as it needs.
func (p *page) row(r row, hot []span) []string {
	s := p.v.styles
	look := ansi.Style(nil)
	switch r.sign {
	case '+':
		look = s.Added
	case '-':
		look = s.Removed
	}
	margin := p.margin(r)
	room := max(p.width-len(margin)-1, 1)
	parts := p.fold(p.parts(r, hot), room)
	lines := make([]string, 0, len(parts)+1)
	for i, part := range parts {
		before := margin
		if i > 0 {
			before = strings.Repeat(" ", len(margin))
		}
		text := write(part, s.Changed)
		if turns(part) {
			text = "\u2066" + text + "\u2069"
		}
		if p.width > len(margin)+1 {
			text = " " + text
		}
		if strings.TrimSpace(ansi.Strip(text)) == "" {
			text = ""
		}
		numbers, sign := before[:len(before)-1], before[len(before)-1:]
		if look != nil {
			sign = look.Styled(sign)
		}
		if numbers != "" {
			numbers = s.Quiet.Styled(numbers)
		}
		lines = append(lines, theme.Cut(numbers+sign+text, p.width))
	}
	if r.open {
		text := strings.Repeat(" ", len(margin)) + " ⤶ no end of line"
		lines = append(lines, s.Quiet.Styled(theme.Cut(text, p.width)))
	}
	return lines
}
