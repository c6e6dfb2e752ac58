package markdown

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// hashes reads a heading that begins with its level; 0: it is none.
func hashes(t string) (text string, level int) {
	rest := strings.TrimLeft(t, "#")
	level = len(t) - len(rest)
	if level == 0 || level > 6 || rest != "" && rest[0] != ' ' {
		return "", 0
	}
	text = strings.TrimSpace(rest)
	if shut := strings.TrimRight(text, "#"); shut == "" || strings.HasSuffix(shut, " ") {
		text = strings.TrimSpace(shut)
	}
	return text, level
}

// underline reads the line below a heading; 0: it is none.
func underline(t string) int {
	t = strings.TrimRight(t, " ")
	switch {
	case t == "":
	case strings.Trim(t, "=") == "":
		return 1
	case strings.Trim(t, "-") == "":
		return 2
	}
	return 0
}

// isRule reports a line that stands for a break between subjects.
func isRule(t string) bool {
	n := 0
	for i := range len(t) {
		switch {
		case t[i] == ' ':
		case t[i] == t[0] && strings.IndexByte("-_*", t[0]) >= 0:
			n++
		default:
			return false
		}
	}
	return n >= 3
}

func (m *machine) rule() {
	m.draw([]string{m.r.styled(strings.Repeat("─", min(m.room(), 72)), quiet)}, true)
	m.blank = true
}

// heading keeps its signs, so that its level is seen.
func (m *machine) heading(text string, level int) {
	spans := append([]span{{text: strings.Repeat("#", level) + " "}}, m.r.spans(text)...)
	m.draw(m.r.wrap(spans, m.room(), title), true)
}

// isMarkup reports a line of HTML: a tag, a comment, a declaration.
func isMarkup(t string) bool {
	if len(t) < 2 || t[0] != '<' {
		return false
	}
	switch c := t[1]; {
	case c == '!', c == '?':
		return true
	case c == '/':
		return len(t) > 2 && isLetter(t[2])
	case !isLetter(c):
		return false
	}
	rest := strings.TrimLeftFunc(t[1:], func(r rune) bool { return r < 0x80 && (isWord(byte(r)) || r == '-') })
	switch strings.ToLower(t[1 : len(t)-len(rest)]) {
	case "a", "abbr", "b", "br", "cite", "code", "del", "em", "i", "img", "ins", "kbd", "mark", "q", "s", "small", "span", "strong", "sub", "sup", "u":
		return false // words with a tag before them
	}
	return rest == "" || strings.IndexByte(" />", rest[0]) >= 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isWord(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '_' }

// markup shows a line of HTML as it is.
func (m *machine) markup(t string, depth int, goesOn bool) {
	if !goesOn {
		m.to(depth)
		m.leaf = leaf{kind: markup}
	}
	m.draw(m.r.fold([]piece{{text: t, attr: quiet}}, m.room()), false)
}

// codeMargin stands before lines of code.
const codeMargin = "  "

// drawCode lets go of a line of code.
func (m *machine) drawCode(pieces []piece) {
	margin := codeMargin
	room := m.room()
	if room <= least {
		margin = ""
	}
	lines := m.r.fold(pieces, room-len(margin))
	for i := range lines {
		if lines[i] != "" {
			lines[i] = margin + lines[i]
		}
	}
	m.draw(lines, false)
}

func (m *machine) inIndented(s string) {
	for ; m.leaf.gap > 0; m.leaf.gap-- {
		m.drawCode(nil)
	}
	m.drawCode([]piece{{text: s}})
}

// openFence begins a block of code.
func (m *machine) openFence(t string, in, depth int) bool {
	if t[0] != '`' && t[0] != '~' {
		return false
	}
	info := strings.TrimLeft(t, t[:1])
	n := len(t) - len(info)
	if n < 3 || t[0] == '`' && strings.Contains(info, "`") {
		return false
	}
	m.to(depth)
	name, _, _ := strings.Cut(strings.TrimSpace(info), " ")
	m.leaf = leaf{kind: fence, mark: t[0], marks: n, indent: in, lexer: lexerOf(name)}
	return true
}

// inFence takes a line of a block of code, or its end.
func (m *machine) inFence(s string) {
	in, t := indentOf(s)
	f := &m.leaf
	if in < 4 && strings.HasPrefix(t, strings.Repeat(string(f.mark), f.marks)) && strings.Trim(t, string(f.mark)+" ") == "" {
		m.leaf = leaf{}
		return
	}
	m.drawCode(f.lexer.line(s[min(in, f.indent):]))
}

// fold breaks a line where the room ends; blanks stay.
func (r *Renderer) fold(pieces []piece, width int) []string {
	whole := 0
	for _, p := range pieces {
		whole += cells(p.text)
	}
	if whole <= width {
		return []string{r.line(pieces, 0)}
	}
	w := wrapper{r: r, width: width}
	for _, p := range pieces {
		w.breakUp(p)
	}
	w.newline()
	return w.lines
}

// cells is how wide a text is.
func cells(s string) int {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}
