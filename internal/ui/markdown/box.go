package markdown

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// box is a quote or an item of a list: what stands before the lines in it.
type box struct {
	quote  bool
	indent int    // of what is in an item, in blanks
	list   byte   // - + * . ): items with the same one are of one list
	number int    // of an ordered list
	mark   string // what is drawn before its first line
	drawn  bool   // something in it was
}

// enter is what of a line is in the box; ok is false if the line is not.
func (b box) enter(s string) (inside string, ok bool) {
	in, t := indentOf(s)
	switch {
	case b.quote && in < 4 && strings.HasPrefix(t, ">"):
		return strings.TrimPrefix(t[1:], " "), true
	case b.quote:
		return "", false
	case t == "":
		return "", true
	case in >= b.indent:
		return s[b.indent:], true
	}
	return "", false
}

// indentOf is how many blanks a line begins with, and the rest.
func indentOf(s string) (n int, rest string) {
	rest = strings.TrimLeft(s, " ")
	return len(s) - len(rest), rest
}

// openBox begins a quote or an item if the line does, and returns what is in it.
func (m *machine) openBox(s string, depth int, fresh bool) (inside string, ok bool) {
	in, t := indentOf(s)
	if in >= 4 || t == "" || len(m.boxes) >= maxBoxes && depth >= maxBoxes {
		return "", false
	}
	if t[0] == '>' {
		m.to(depth)
		m.boxes = append(m.boxes, box{quote: true})
		return strings.TrimPrefix(t[1:], " "), true
	}
	if isRule(t) {
		return "", false
	}
	b, inside, ok := item(t, in)
	if !ok {
		return "", false
	}
	within := m.leaf.kind == paragraph && depth == len(m.boxes) && !fresh
	if within && (inside == "" || b.number > 1 || underline(t) > 0) {
		return "", false // a line of a paragraph may begin with a number or a sign
	}
	if depth < len(m.boxes) && m.boxes[depth].list == b.list && b.list != 0 {
		b.number = m.boxes[depth].number + 1
	}
	m.to(depth)
	m.name(&b, &inside)
	m.boxes = append(m.boxes, b)
	return inside, true
}

// item reads the beginning of an item.
func item(t string, in int) (b box, inside string, ok bool) {
	n := 0
	switch {
	case strings.IndexByte("-+*", t[0]) >= 0:
		b.list, n = t[0], 1
	default:
		const most = 9 // digits
		for n < len(t) && n < most && t[n] >= '0' && t[n] <= '9' {
			b.number = 10*b.number + int(t[n]-'0')
			n++
		}
		if n == 0 || n >= len(t) || t[n] != '.' && t[n] != ')' {
			return box{}, "", false
		}
		b.list = t[n]
		n++
	}
	if n < len(t) && t[n] != ' ' {
		return box{}, "", false
	}
	gap, inside := indentOf(t[n:])
	if gap > 4 || inside == "" { // what is in it is indented code, or comes in the next line
		inside = strings.TrimPrefix(t[n:], " ")
		gap = 1
	}
	if strings.TrimSpace(inside) == "" {
		inside = ""
	}
	b.indent = in + n + gap
	return b, inside, true
}

// name says what is drawn before an item.
func (m *machine) name(b *box, inside *string) {
	level := 0
	for _, outer := range m.boxes {
		if strings.IndexByte("-+*", outer.list) >= 0 {
			level++
		}
	}
	sign := [...]string{"• ", "◦ ", "▪ "}[level%3]
	if b.list == '.' || b.list == ')' {
		sign = ""
		b.mark = strconv.Itoa(b.number) + string(b.list) + " "
	}
	switch text := *inside; {
	case strings.HasPrefix(text, "[ ] "):
		sign, *inside = "☐ ", text[4:]
	case strings.HasPrefix(text, "[x] "), strings.HasPrefix(text, "[X] "):
		sign, *inside = "☑ ", text[4:]
	}
	b.mark += sign
}

// least is what the boxes leave for words, in cells; boxes for which there is no room are not drawn.
const least = 8

// margins are what stands before the first line and before the others of what is drawn now.
func (m *machine) margins() (first, others string, width int) {
	var a, b strings.Builder
	for _, x := range m.boxes {
		mark, later := x.mark, "│ "
		if !x.quote {
			later = strings.Repeat(" ", ansi.StringWidth(mark))
		}
		n := ansi.StringWidth(later)
		if width+n > m.width-least {
			break
		}
		width += n
		if x.quote {
			later = m.r.styled("│", quiet) + " "
			mark = later
		} else if x.drawn {
			mark = later
		}
		a.WriteString(mark)
		b.WriteString(later)
	}
	return a.String(), b.String(), width
}

// room is how many cells there are for words.
func (m *machine) room() int {
	_, _, width := m.margins()
	return m.width - width
}

// draw lets go of lines of a block. apart has a blank line before them in any case.
func (m *machine) draw(lines []string, apart bool) {
	if len(lines) == 0 {
		return
	}
	if (m.blank || apart) && m.before+len(m.out) > 0 {
		m.out = append(m.out, m.between())
	}
	m.blank = false
	first, others, _ := m.margins()
	for i, l := range lines {
		margin := others
		if i == 0 {
			margin = first
		}
		if l == "" {
			margin = strings.TrimRight(margin, " ")
		}
		m.out = append(m.out, margin+l)
	}
	for i := range m.boxes {
		m.boxes[i].drawn = true
	}
}

// between is a blank line in the boxes that go on.
func (m *machine) between() string {
	boxes := m.boxes
	for i, b := range boxes {
		if !b.drawn {
			m.boxes = boxes[:i]
			break
		}
	}
	_, others, _ := m.margins()
	m.boxes = boxes
	return strings.TrimRight(others, " ")
}
