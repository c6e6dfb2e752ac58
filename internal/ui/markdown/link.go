package markdown

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// bracket is a [ that may begin a link, or a ![ that may begin an image.
type bracket struct {
	token int // its place
	runs  int // how many runs of marks came before it
	image bool
}

func (p *scanner) bracket(n int) {
	p.flush()
	p.links = append(p.links, bracket{token: len(p.tokens), runs: len(p.runs), image: n == 2})
	p.put(span{text: p.s[p.at : p.at+n]}, n)
}

// shutBracket makes a link of what is in brackets, if an address follows.
func (p *scanner) shutBracket() {
	if len(p.links) == 0 {
		p.at++
		return
	}
	b := p.links[len(p.links)-1]
	p.links = p.links[:len(p.links)-1]
	to, n, ok := address(p.s[p.at+1:])
	if !ok {
		p.at++
		return
	}
	p.flush()
	p.match(b.runs)
	inside := p.tokens[b.token+1:]
	var words strings.Builder
	for _, t := range inside {
		if t.mark != 0 {
			words.WriteString(strings.Repeat(string(t.mark), int(t.n)))
		}
		words.WriteString(t.text)
	}
	p.at += 1 + n
	p.from = p.at
	if b.image {
		image := token{span: span{text: "[image: " + words.String() + "]", attr: quiet}}
		image.begin, image.done = p.tokens[b.token].begin, p.tokens[b.token].done
		p.tokens = append(p.tokens[:b.token], image)
		return
	}
	p.tokens[b.token].text = ""
	for i := range inside {
		if !inside[i].end {
			inside[i].attr |= link
		}
		inside[i].href = hyper(to)
	}
	// What begins or ends before what follows must find a token there, the link's text may be empty.
	after := span{}
	if shown := strings.TrimPrefix(to, "mailto:"); shown != words.String() && shown != "" {
		after = span{text: " (" + shown + ")", attr: quiet, href: hyper(to)}
	}
	p.tokens = append(p.tokens, token{span: after})
	// Links are not within each other.
	p.links = slices.DeleteFunc(p.links, func(b bracket) bool { return !b.image })
}

// address reads the (address "title") of a link and says how long it is.
func address(s string) (to string, n int, ok bool) {
	const longest = 2 << 10 // bytes
	s = s[:min(len(s), longest)]
	if !strings.HasPrefix(s, "(") {
		return "", 0, false
	}
	rest := strings.TrimLeft(s[1:], " \n")
	if strings.HasPrefix(rest, "<") {
		end := strings.IndexAny(rest, ">\n")
		if end < 0 || rest[end] == '\n' {
			return "", 0, false
		}
		to, rest = rest[1:end], rest[end+1:]
	} else {
		end := bare(rest)
		to, rest = rest[:end], rest[end:]
	}
	rest = strings.TrimLeft(rest, " \n")
	if rest != "" && strings.IndexByte("\"'(", rest[0]) >= 0 {
		shut := rest[0]
		if shut == '(' {
			shut = ')'
		}
		end := strings.IndexByte(rest[1:], shut)
		if end < 0 {
			return "", 0, false
		}
		rest = strings.TrimLeft(rest[end+2:], " \n")
	}
	if !strings.HasPrefix(rest, ")") {
		return "", 0, false
	}
	return strings.ReplaceAll(to, `\`, ""), len(s) - len(rest) + 1, true
}

// bare is how long an address without < is: up to a blank, or a ) that was not begun in it.
func bare(s string) int {
	const deepest = 32
	deep := 0
	for i := range len(s) {
		switch s[i] {
		case ' ', '\n':
			return i
		case '(':
			if deep++; deep > deepest {
				return i
			}
		case ')':
			if deep--; deep < 0 {
				return i
			}
		}
	}
	return len(s)
}

// hyper is an address as a terminal may be told it: one of the web, of characters that steer nothing.
func hyper(to string) string {
	if !strings.HasPrefix(to, "http://") && !strings.HasPrefix(to, "https://") {
		return ""
	}
	for i := range len(to) {
		if to[i] <= ' ' || to[i] > '~' {
			return ""
		}
	}
	return to
}

// angle reads <https://example.org> and <br>; other HTML is text.
func (p *scanner) angle() {
	const longest = 2 << 10 // bytes
	rest := p.s[p.at:min(len(p.s), p.at+longest)]
	end := strings.IndexAny(rest, "> \n")
	switch {
	case strings.HasPrefix(rest, "<br>"), strings.HasPrefix(rest, "<br/>"), strings.HasPrefix(rest, "<br />"):
		p.put(span{end: true}, strings.IndexByte(rest, '>')+1)
	case end > 0 && rest[end] == '>' && (hyper(rest[1:end]) != "" || strings.HasPrefix(rest, "<mailto:")):
		p.put(span{text: rest[1:end], attr: link, href: hyper(rest[1:end])}, end+1)
	default:
		p.at++
	}
}

// address reads an address of the web that stands in the text as it is.
func (p *scanner) address() {
	rest := p.s[p.at:]
	before, _ := utf8.DecodeLastRuneInString(p.s[:p.at])
	if !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") || before < 0x80 && isWord(byte(before)) {
		p.at++
		return
	}
	n := strings.IndexAny(rest, " \n<>[]`\"*|")
	if n < 0 {
		n = len(rest)
	}
	to := strings.TrimRight(rest[:n], "?!.,:;'~_")
	for strings.HasSuffix(to, ")") && strings.Count(to, ")") > strings.Count(to, "(") {
		to = strings.TrimRight(to[:len(to)-1], "?!.,:;'~_")
	}
	if strings.HasSuffix(to, "/") && len(to) <= len("https://") {
		p.at++
		return
	}
	p.put(span{text: to, attr: link, href: hyper(to)}, len(to))
}
