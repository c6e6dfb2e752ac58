package export

import (
	"fmt"
	"strings"
)

// Markdown of others becomes HTML by what stands here: the blocks and spans that models write, and nothing that HTML
// itself would give a meaning. Whatever goes in, what comes out are elements of this file's choice around escaped text,
// each of them closed.

const (
	maxDepth     = 16       // of quotes and lists in each other; what is deeper is shown as it is written
	maxParagraph = 64 << 10 // bytes in which spans are looked for
)

// renderMarkdown gives the HTML of a text.
func renderMarkdown(text string) string {
	r := &renderer{}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	r.blocks(strings.Split(strings.ReplaceAll(text, "\t", "    "), "\n"), 0, false)
	return r.out.String()
}

type renderer struct {
	out  strings.Builder
	para []string // the lines of the paragraph under way
}

// blocks renders lines. Paragraphs of a tight list have no element of their own.
func (r *renderer) blocks(lines []string, depth int, tight bool) {
	if depth > maxDepth {
		r.pre(lines)
		return
	}
	for i := 0; i < len(lines); {
		n := r.block(lines[i:], depth, tight)
		if n == 0 {
			r.para = append(r.para, strings.TrimLeft(lines[i], " "))
			n = 1
		}
		i += n
	}
	r.flush(tight)
}

// block renders the block that lines begin with and tells of how many lines it is; 0: they are of a paragraph.
func (r *renderer) block(lines []string, depth int, tight bool) int {
	line := lines[0]
	text := strings.TrimSpace(line)
	indent := indentOf(line)
	if text == "" {
		r.flush(tight)
		return 1
	}
	if indent >= 4 {
		if len(r.para) > 0 {
			return 0
		}
		return r.indented(lines)
	}
	if n := r.underlined(text); n > 0 {
		return n
	}
	begun := func() { r.flush(tight) }
	switch {
	case fenceOf(text) != "":
		begun()
		return r.fenced(lines, indent)
	case headingOf(text) > 0:
		begun()
		r.heading(headingOf(text), strings.TrimSpace(strings.TrimRight(strings.TrimLeft(text, "#"), "# ")))
		return 1
	case isRule(text):
		begun()
		r.out.WriteString("<hr>\n")
		return 1
	case text[0] == '>':
		begun()
		return r.quote(lines, depth)
	}
	if m := markerOf(line); m.width > 0 && (len(r.para) == 0 || m.interrupts()) {
		begun()
		return r.list(lines, m, depth)
	}
	if len(r.para) == 0 && len(lines) > 1 && isTable(line, lines[1]) {
		return r.table(lines)
	}
	return 0
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// flush ends the paragraph under way.
func (r *renderer) flush(tight bool) {
	if len(r.para) == 0 {
		return
	}
	text := strings.Join(r.para, "\n")
	r.para = nil
	if tight {
		r.span(text)
		r.out.WriteByte('\n')
		return
	}
	r.out.WriteString(`<p dir="auto">`)
	r.span(text)
	r.out.WriteString("</p>\n")
}

func (r *renderer) span(text string) {
	text = strings.TrimRight(text, " \n")
	if len(text) > maxParagraph {
		r.out.WriteString(escape(text))
		return
	}
	s := &spans{text: text}
	s.render(&r.out, 0)
}

// heading writes one below those of the page.
func (r *renderer) heading(level int, text string) {
	level = min(level+2, 6)
	_, _ = fmt.Fprintf(&r.out, `<h%d dir="auto">`, level)
	r.span(text)
	_, _ = fmt.Fprintf(&r.out, "</h%d>\n", level)
}

// underlined makes the paragraph under way a heading, if the line below it says so.
func (r *renderer) underlined(text string) int {
	level := 0
	switch {
	case len(r.para) == 0:
	case strings.Trim(text, "=") == "":
		level = 1
	case strings.Trim(text, "-") == "":
		level = 2
	}
	if level == 0 {
		return 0
	}
	words := strings.Join(r.para, "\n")
	r.para = nil
	r.heading(level, words)
	return 1
}

func headingOf(text string) int {
	n := len(text) - len(strings.TrimLeft(text, "#"))
	if n < 1 || n > 6 || n < len(text) && text[n] != ' ' {
		return 0
	}
	return n
}

func isRule(text string) bool {
	bare := strings.ReplaceAll(text, " ", "")
	return len(bare) >= 3 && strings.ContainsRune("-*_", rune(bare[0])) && strings.Trim(bare, bare[:1]) == ""
}

// fenceOf is the fence that a line opens: its backticks or tildes.
func fenceOf(text string) string {
	for _, c := range []string{"`", "~"} {
		n := len(text) - len(strings.TrimLeft(text, c))
		if n >= 3 && (c == "~" || !strings.Contains(text[n:], "`")) {
			return text[:n]
		}
	}
	return ""
}

func (r *renderer) fenced(lines []string, indent int) int {
	fence := fenceOf(strings.TrimSpace(lines[0]))
	n := 1
	var code []string
	for ; n < len(lines); n++ {
		text := strings.TrimSpace(lines[n])
		if len(text) >= len(fence) && strings.Trim(text, fence[:1]) == "" {
			n++
			break
		}
		code = append(code, lines[n][min(indent, indentOf(lines[n])):])
	}
	r.pre(code)
	return n
}

func (r *renderer) indented(lines []string) int {
	n, end := 0, 0
	var code []string
	for ; n < len(lines); n++ {
		blank := strings.TrimSpace(lines[n]) == ""
		if !blank && indentOf(lines[n]) < 4 {
			break
		}
		code = append(code, lines[n][min(4, len(lines[n])):])
		if !blank {
			end = n + 1
		}
	}
	r.pre(code[:end])
	return n
}

func (r *renderer) pre(lines []string) {
	r.out.WriteString("<pre><code>")
	r.out.WriteString(escape(strings.Join(lines, "\n")))
	r.out.WriteString("</code></pre>\n")
}

func (r *renderer) quote(lines []string, depth int) int {
	n := 0
	var inner []string
	for ; n < len(lines); n++ {
		text := strings.TrimLeft(lines[n], " ")
		if !strings.HasPrefix(text, ">") {
			break
		}
		inner = append(inner, strings.TrimPrefix(text[1:], " "))
	}
	r.out.WriteString("<blockquote>\n")
	r.blocks(inner, depth+1, false)
	r.out.WriteString("</blockquote>\n")
	return n
}
