package markdown

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
)

// token is a part of a text while its marks are matched.
type token struct {
	span
	mark          byte  // of a run of * _ ~ that may begin or end something
	n             int16 // how many of them are left
	opens, closes bool
	begin, done   [3]int16 // how many of strong, emph and struck begin before it and end before it
}

// scanner reads the spans of a text, in time that grows with its length but for what a paragraph's bound makes small.
type scanner struct {
	s      string
	at     int
	from   int // of the text that is no token yet
	tokens []token
	runs   []int // tokens that are runs of marks and not matched
	links  []bracket
	unshut map[int]bool // lengths of runs of backticks after which none of that length comes
}

// spans reads the ways of writing in a text.
func (r *Renderer) spans(text string) []span {
	if !strings.ContainsAny(text, "\\`*_~[!<&\n") && !strings.Contains(text, "://") {
		return []span{{text: text}}
	}
	p := &scanner{s: text, tokens: make([]token, 0, 8+len(text)/32)}
	p.read()
	p.match(0)
	return p.result(r.keep)
}

func (p *scanner) read() {
	for p.at < len(p.s) {
		c := p.s[p.at]
		switch c {
		case '\\':
			p.escape()
		case '`':
			p.code()
		case '*', '_', '~':
			p.run(c)
		case '!':
			if strings.HasPrefix(p.s[p.at:], "![") {
				p.bracket(2)
			} else {
				p.at++
			}
		case '[':
			p.bracket(1)
		case ']':
			p.shutBracket()
		case '<':
			p.angle()
		case '&':
			p.reference()
		case '\n':
			p.newline()
		case 'h':
			p.address()
		default:
			p.at++
		}
	}
	p.flush()
}

// flush makes a token of the text before the place where reading is.
func (p *scanner) flush() {
	if p.from < p.at {
		p.tokens = append(p.tokens, token{span: span{text: p.s[p.from:p.at]}})
	}
	p.from = p.at
}

// put is a token that stands for so many bytes.
func (p *scanner) put(t span, n int) {
	p.flush()
	p.tokens = append(p.tokens, token{span: t})
	p.at += n
	p.from = p.at
}

func (p *scanner) escape() {
	if p.at+1 >= len(p.s) {
		p.at++
		return
	}
	switch next := p.s[p.at+1]; {
	case next == '\n':
		p.put(span{end: true}, 2)
	case next > ' ' && next < 0x7f && !isWord(next) || next == '_':
		p.flush()
		p.from, p.at = p.at+1, p.at+2
	default:
		p.at++
	}
}

// newline is a blank, but for two blanks or more before it. Between wide characters it is nothing.
func (p *scanner) newline() {
	before := strings.TrimRight(p.s[p.from:p.at], " ")
	hard := p.at-p.from-len(before) >= 2
	next := p.at + 1
	for next < len(p.s) && p.s[next] == ' ' {
		next++
	}
	at := p.at
	p.at = p.from + len(before)
	p.flush()
	p.at, p.from = at, at
	last, _ := utf8.DecodeLastRuneInString(p.s[:at])
	first, _ := utf8.DecodeRuneInString(p.s[next:])
	switch {
	case hard:
		p.put(span{end: true}, next-at)
	case isWide(last) && isWide(first):
		p.at, p.from = next, next
	default:
		p.put(span{text: " "}, next-at)
	}
}

func isWide(r rune) bool { return r >= 0x2e80 && r < 0x1f000 && ansi.StringWidth(string(r)) > 1 }

// code reads what is between two runs of backticks of one length.
func (p *scanner) code() {
	n := 0
	for p.at+n < len(p.s) && p.s[p.at+n] == '`' {
		n++
	}
	if p.unshut[n] {
		p.at += n
		return
	}
	for i := p.at + n; i < len(p.s); {
		next := strings.IndexByte(p.s[i:], '`')
		if next < 0 {
			break
		}
		i += next
		m := 0
		for i+m < len(p.s) && p.s[i+m] == '`' {
			m++
		}
		if m == n {
			text := strings.ReplaceAll(p.s[p.at+n:i], "\n", " ")
			if len(text) > 2 && text[0] == ' ' && text[len(text)-1] == ' ' && strings.TrimSpace(text) != "" {
				text = text[1 : len(text)-1]
			}
			p.put(span{text: text, attr: code}, i+m-p.at)
			return
		}
		i += m
	}
	if p.unshut == nil {
		p.unshut = map[int]bool{}
	}
	p.unshut[n] = true
	p.at += n
}

// reference reads a character that is written by its name or number.
func (p *scanner) reference() {
	const longest = 32
	end := strings.IndexByte(p.s[p.at:min(len(p.s), p.at+longest)], ';')
	if end < 0 {
		p.at++
		return
	}
	source := p.s[p.at : p.at+end+1]
	text := html.UnescapeString(source)
	if text == source {
		p.at++
		return
	}
	text = strings.ReplaceAll(strings.ReplaceAll(plain.Joined(text), "\n", " "), "\t", " ")
	p.put(span{text: text}, len(source))
}

// run reads a run of marks and says whether it may begin something, end something, or both.
func (p *scanner) run(c byte) {
	n := 0
	for p.at+n < len(p.s) && p.s[p.at+n] == c {
		n++
	}
	if c == '~' && n != 2 {
		p.at += n
		return
	}
	before, _ := utf8.DecodeLastRuneInString(p.s[:p.at])
	after, _ := utf8.DecodeRuneInString(p.s[p.at+n:])
	if p.at == 0 {
		before = ' '
	}
	if p.at+n == len(p.s) {
		after = ' '
	}
	left := !unicode.IsSpace(after) && (!isSign(after) || unicode.IsSpace(before) || isSign(before) || isWide(before))
	right := !unicode.IsSpace(before) && (!isSign(before) || unicode.IsSpace(after) || isSign(after) || isWide(after))
	t := token{mark: c, n: int16(n), opens: left, closes: right}
	if c == '_' {
		t.opens = left && (!right || isSign(before))
		t.closes = right && (!left || isSign(after))
	}
	p.flush()
	if t.opens || t.closes {
		p.runs = append(p.runs, len(p.tokens))
	}
	p.tokens = append(p.tokens, t)
	p.at += n
	p.from = p.at
}

func isSign(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }
