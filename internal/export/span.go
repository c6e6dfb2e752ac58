package export

import (
	"html"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is looked for around a sign, in bytes, and of spans in each other.
const (
	maxSpan   = 4000
	maxLink   = 2000
	maxNested = 8
)

// escape makes text that HTML takes for nothing else, within an element and within a quoted attribute.
func escape(s string) string { return html.EscapeString(s) }

// spans renders the text of one block.
type spans struct {
	text   string
	missed map[string]int // up to where no end was found, by what ends it
}

func (s *spans) render(out *strings.Builder, depth int) {
	from := 0
	for i := 0; i < len(s.text); {
		if strings.IndexByte("\\`<![*_~h&\n", s.text[i]) < 0 {
			i++
			continue
		}
		var span strings.Builder
		n := s.at(&span, i, depth)
		if n == 0 {
			i++
			continue
		}
		out.WriteString(escape(s.text[from:i]))
		out.WriteString(span.String())
		i += n
		from = i
	}
	out.WriteString(escape(s.text[from:]))
}

// at renders the span that begins at i and tells its bytes; 0: none does.
func (s *spans) at(out *strings.Builder, i, depth int) int {
	rest := s.text[i:]
	switch rest[0] {
	case '\\':
		return escaped(out, rest)
	case '\n':
		if strings.HasSuffix(s.text[:i], "  ") {
			out.WriteString("<br>\n")
			return 1
		}
	case '`':
		return s.code(out, i)
	case '<':
		return autolink(out, rest)
	case '&':
		if end := strings.IndexByte(rest[:min(len(rest), 32)], ';'); end > 1 {
			if text := html.UnescapeString(rest[:end+1]); text != rest[:end+1] {
				out.WriteString(escape(cleaned(text)))
				return end + 1
			}
		}
	case 'h':
		return s.bareLink(out, i)
	case '!':
		if len(rest) > 1 && rest[1] == '[' {
			if n := s.link(out, i+1, depth, "image: "); n > 0 {
				return n + 1
			}
		}
	case '[':
		return s.link(out, i, depth, "")
	case '*', '_', '~':
		return s.emphasis(out, i, depth)
	}
	return 0
}

// cleaned leaves out what an entity stands for and no page should hold.
func cleaned(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, s)
}

func escaped(out *strings.Builder, rest string) int {
	switch {
	case len(rest) < 2:
		return 0
	case rest[1] == '\n':
		out.WriteString("<br>\n")
	case rest[1] < 0x80 && unicode.In(rune(rest[1]), unicode.P, unicode.S):
		out.WriteString(escape(rest[1:2]))
	default:
		return 0
	}
	return 2
}

// find looks for an end after from, within maxSpan, and remembers in vain.
func (s *spans) find(what string, from int, fits func(at int) bool) int {
	if s.missed == nil {
		s.missed = map[string]int{}
	}
	end := min(from+maxSpan, len(s.text))
	for at := max(from, s.missed[what]); at < end; {
		i := strings.Index(s.text[at:end], what)
		if i < 0 {
			break
		}
		if at += i; fits(at) {
			return at
		}
		at++
	}
	s.missed[what] = max(s.missed[what], end-len(what)+1)
	return -1
}

func (s *spans) code(out *strings.Builder, i int) int {
	n := len(s.text[i:]) - len(strings.TrimLeft(s.text[i:], "`"))
	ticks := s.text[i : i+n]
	end := s.find(ticks, i+n, func(at int) bool {
		return s.text[at-1] != '`' && (at+n >= len(s.text) || s.text[at+n] != '`')
	})
	if end < 0 {
		out.WriteString(ticks)
		return n
	}
	code := strings.ReplaceAll(s.text[i+n:end], "\n", " ")
	if len(code) > 2 && code[0] == ' ' && code[len(code)-1] == ' ' && strings.TrimSpace(code) != "" {
		code = code[1 : len(code)-1]
	}
	out.WriteString("<code>" + escape(code) + "</code>")
	return end + n - i
}

// emphasis renders what stands between two equal signs.
func (s *spans) emphasis(out *strings.Builder, i, depth int) int {
	c := s.text[i]
	n := 1
	for n < 3 && i+n < len(s.text) && s.text[i+n] == c {
		n++
	}
	if depth >= maxNested || c == '~' && n != 2 {
		return 0
	}
	for n = min(n, 2); n > 0; n-- {
		sign := s.text[i : i+n]
		from := i + n
		if from >= len(s.text) || blankAt(s.text, from) || c == '_' && wordBefore(s.text, i) {
			return 0
		}
		end := s.find(sign, from+1, func(at int) bool {
			before, _ := utf8.DecodeLastRuneInString(s.text[:at])
			after, _ := utf8.DecodeRuneInString(s.text[at+n:])
			if unicode.IsSpace(before) || c == '_' && (unicode.IsLetter(after) || unicode.IsDigit(after)) {
				return false
			}
			return n == 2 || s.text[at-1] != c && (at+1 >= len(s.text) || s.text[at+1] != c)
		})
		if end < 0 {
			if n == 1 || c == '~' {
				break
			}
			continue
		}
		element := map[string]string{"*": "em", "_": "em", "**": "strong", "__": "strong", "~~": "del"}[sign]
		out.WriteString("<" + element + ">")
		inner := &spans{text: s.text[from:end]}
		inner.render(out, depth+1)
		out.WriteString("</" + element + ">")
		return end + n - i
	}
	return 0
}

func blankAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsSpace(r)
}

func wordBefore(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return i > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// link renders [text](place). A place that no reader should be led to is shown as text.
func (s *spans) link(out *strings.Builder, i, depth int, what string) int {
	mid := s.find("](", i+1, func(int) bool { return true })
	if mid < 0 || depth >= maxNested {
		return 0
	}
	place := s.text[mid+2 : min(mid+2+maxLink, len(s.text))]
	end := placeEnd(place)
	if end < 0 || strings.Contains(s.text[i+1:mid], "[") && !strings.Contains(s.text[i+1:mid], "]") {
		return 0
	}
	target, _, _ := strings.Cut(strings.TrimSpace(place[:end]), " ")
	target = strings.Trim(target, "<>")
	var words strings.Builder
	words.WriteString(what)
	inner := &spans{text: s.text[i+1 : mid]}
	inner.render(&words, maxNested) // no link in a link
	if ref := safeLink(target); ref != "" {
		out.WriteString(anchor(ref, words.String()))
	} else {
		out.WriteString(words.String() + " (<code>" + escape(target) + "</code>)")
	}
	return mid + 2 + end + 1 - i
}

// placeEnd is where the bracket around a link's place closes; -1: it does not.
func placeEnd(s string) int {
	open := 0
	for i := range len(s) {
		switch s[i] {
		case '\n':
			return -1
		case '(':
			open++
		case ')':
			if open == 0 {
				return i
			}
			open--
		}
	}
	return -1
}

func autolink(out *strings.Builder, rest string) int {
	end := strings.IndexAny(rest[:min(len(rest), maxLink)], "> \n")
	if end < 2 || rest[end] != '>' {
		return 0
	}
	target := rest[1:end]
	ref := safeLink(target)
	if ref == "" {
		return 0
	}
	out.WriteString(anchor(ref, escape(target)))
	return end + 1
}

func (s *spans) bareLink(out *strings.Builder, i int) int {
	rest := s.text[i:]
	if !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") || wordBefore(s.text, i) {
		return 0
	}
	end := strings.IndexAny(rest[:min(len(rest), maxLink)], " \n<>\"`|\\")
	if end < 0 {
		end = min(len(rest), maxLink)
		for end < len(rest) && !utf8.RuneStart(rest[end]) {
			end--
		}
	}
	target := strings.TrimRight(rest[:end], ".,:;!?'*_~])}")
	if strings.Count(rest[:end], "(") > strings.Count(target, ")") && strings.HasPrefix(rest[len(target):], ")") {
		target += ")"
	}
	ref := safeLink(target)
	if ref == "" {
		return 0
	}
	out.WriteString(anchor(ref, escape(target)))
	return len(target)
}

func anchor(ref, words string) string {
	return `<a href="` + escape(ref) + `" rel="noopener noreferrer nofollow">` + words + "</a>"
}

// safeLink is a link that a reader may follow: to a web page or a mail address, whole. Empty: it is none.
func safeLink(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return ""
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if u.Host == "" {
			return ""
		}
	case "mailto":
	default:
		return ""
	}
	return u.String()
}
