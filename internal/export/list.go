package export

import (
	"fmt"
	"strconv"
	"strings"
)

// marker is what an item of a list begins with.
type marker struct {
	kind   byte // - * + for bullets, . or ) for numbers
	number int
	indent int
	width  int // of the marker with the blanks around it; 0: there is none
}

// markerOf reads the marker of a line. One that is followed by nothing counts.
func markerOf(line string) (m marker) {
	m.indent = indentOf(line)
	text := line[m.indent:]
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	switch {
	case text == "" || digits > 9:
		return m
	case digits > 0 && digits < len(text) && (text[digits] == '.' || text[digits] == ')'):
		m.kind = text[digits]
		m.number, _ = strconv.Atoi(text[:digits])
	case digits == 0 && strings.IndexByte("-*+", text[0]) >= 0:
		m.kind = text[0]
	default:
		return m
	}
	rest := text[digits+1:]
	if rest != "" && rest[0] != ' ' {
		return m
	}
	blanks := indentOf(rest)
	if blanks > 4 || strings.TrimSpace(rest) == "" {
		blanks = 1
	}
	m.width = m.indent + digits + 1 + blanks
	return m
}

// interrupts reports whether a list may begin in the middle of a paragraph: a year at a line's start does not.
func (m marker) interrupts() bool { return m.kind != '.' && m.kind != ')' || m.number == 1 }

func (r *renderer) list(lines []string, first marker, depth int) int {
	open, end := "<ul>\n", "</ul>\n"
	if first.kind == '.' || first.kind == ')' {
		open, end = fmt.Sprintf("<ol start=\"%d\">\n", first.number), "</ol>\n"
	}
	r.out.WriteString(open)
	items, n := itemsOf(lines, first)
	tight := true
	for _, item := range items {
		last := len(item)
		for last > 0 && strings.TrimSpace(item[last-1]) == "" {
			last--
		}
		for _, line := range item[:last] {
			tight = tight && strings.TrimSpace(line) != ""
		}
	}
	for _, item := range items {
		r.out.WriteString(`<li dir="auto">`)
		for box, sign := range map[string]string{"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "} {
			if rest, ok := strings.CutPrefix(item[0], box); ok {
				item[0] = rest
				r.out.WriteString(sign)
				break
			}
		}
		r.blocks(item, depth+1, tight)
		r.out.WriteString("</li>\n")
	}
	r.out.WriteString(end)
	return n
}

// itemsOf parts the lines of a list into its items, each without its marker and indent, and tells how many they are.
func itemsOf(lines []string, first marker) (items [][]string, n int) {
	width, blank := 0, false
	for ; n < len(lines); n++ {
		line := lines[n]
		text := strings.TrimSpace(line)
		m := markerOf(line)
		switch {
		case text == "":
			items[len(items)-1] = append(items[len(items)-1], "")
			blank = true
			continue
		case n > 0 && indentOf(line) >= width:
			items[len(items)-1] = append(items[len(items)-1], line[width:])
		case m.width > 0 && m.kind == first.kind && !isRule(text):
			width = min(m.width, len(line))
			items = append(items, []string{line[width:]})
		case blank || m.width > 0 || fenceOf(text) != "" || headingOf(text) > 0 || isRule(text) || text[0] == '>':
			return items, n
		default: // a paragraph that goes on without its indent
			items[len(items)-1] = append(items[len(items)-1], text)
		}
		blank = false
	}
	return items, n
}

// isTable reports a line of heads with a line of dashes below it.
func isTable(line, below string) bool {
	if !strings.Contains(line, "|") || !strings.Contains(below, "-") || strings.Trim(below, "|:- ") != "" {
		return false
	}
	heads, dashes := cells(line), cells(below)
	for _, d := range dashes {
		if strings.Trim(d, ":") == "" || strings.Contains(strings.Trim(d, ":"), ":") {
			return false
		}
	}
	return len(heads) == len(dashes)
}

// cells are those of a row, without the bars. A bar behind a backslash is text.
func cells(line string) (out []string) {
	text := strings.TrimSpace(line)
	text = strings.TrimPrefix(text, "|")
	if strings.HasSuffix(text, "|") && !strings.HasSuffix(text, `\|`) {
		text = text[:len(text)-1]
	}
	from := 0
	for i := range len(text) {
		if text[i] == '|' && (i == 0 || text[i-1] != '\\') {
			out = append(out, strings.TrimSpace(text[from:i]))
			from = i + 1
		}
	}
	out = append(out, strings.TrimSpace(text[from:]))
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], `\|`, "|")
	}
	return out
}

func (r *renderer) table(lines []string) int {
	heads, n := cells(lines[0]), 2
	r.out.WriteString(`<div class="wide"><table><thead>`)
	r.row("th", heads, len(heads))
	r.out.WriteString("</thead><tbody>\n")
	for ; n < len(lines) && strings.Contains(lines[n], "|"); n++ {
		r.row("td", cells(lines[n]), len(heads))
	}
	r.out.WriteString("</tbody></table></div>\n")
	return n
}

func (r *renderer) row(element string, row []string, width int) {
	r.out.WriteString("<tr>")
	for i := range width {
		r.out.WriteString("<" + element + ` dir="auto">`)
		if i < len(row) {
			r.span(row[i])
		}
		r.out.WriteString("</" + element + ">")
	}
	r.out.WriteString("</tr>\n")
}
