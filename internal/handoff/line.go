package handoff

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/session"
)

// Bounds of lines, in bytes.
const (
	maxLine  = 16 << 10 // of any text that is made one line
	maxError = 200      // of an error message
)

// oneLine makes a text one line that is what it seems: no control or hidden character, no heading, no comment, no fence.
// A line that it gave it leaves as it is.
func oneLine(text string) string {
	text = plain.Text(strings.ToValidUTF8(session.CutEnd(text, maxLine), "\uFFFD"))
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case plain.Hidden(r):
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	for _, end := range []struct{ from, to string }{{"<!--", `<\!--`}, {"-->", `--\>`}} {
		text = strings.ReplaceAll(text, end.from, end.to)
	}
	text = fence.ReplaceAllStringFunc(text, func(s string) string { return s[:1] })
	if strings.HasPrefix(text, "#") {
		text = `\` + text
	}
	return text
}

var fence = regexp.MustCompile("`{3,}|~{3,}")

// left stands where a line was cut.
const left = " …"

// cut shortens a line to at most n bytes at the end of a word; where not even one word fits, nothing but the mark stays.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head := session.CutEnd(s, max(n-len(left), 0))
	for end := len(head); end > 0; {
		if wordEnds(s, end) {
			return strings.TrimSuffix(strings.TrimRight(head[:end], " "), left) + left
		}
		_, size := utf8.DecodeLastRuneInString(head[:end])
		end -= size
	}
	return strings.TrimSpace(left)
}

// wordEnds reports whether a text may be cut before its byte i: at a space, or beside a character of a script that puts
// none between words.
func wordEnds(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i:])
	return after == ' ' || before == ' ' || unicode.In(before, spaceless...) || unicode.In(after, spaceless...)
}

var spaceless = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai}

// telling finds the line that says what went wrong.
var (
	telling = regexp.MustCompile(`(?i)error|fatal|panic|exception|fail|cannot|can't|could not|denied|no such|not found|undefined|unknown|refused|timed? ?out|mismatch|expected`)
	named   = regexp.MustCompile(`^\s*[\w.]*(Error|Exception)\b.*:`)
)

// errorLine is the one line of an output that says what went wrong, at most [maxError] bytes; the last one where none
// does.
func errorLine(text string) string { return cut(oneLine(errorIn(text, true)), maxError) }

// errorIn finds that line; where none says it, any decides between the last line and nothing.
func errorIn(text string, any bool) string {
	first, last := "", ""
	for line := range strings.Lines(session.CutEnd(text, 1<<20)) {
		line = strings.TrimSpace(plain.Text(line))
		switch {
		case line == "":
			continue
		case named.MatchString(line):
			return line
		case first == "" && telling.MatchString(line):
			first = line
		}
		last = line
	}
	if first != "" || !any {
		return first
	}
	return last
}

// same is a statement without case and punctuation, by which it is found again.
func same(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), " ")
}

// listing is a list in which each statement stands once: one that another of the newest contains is left out too.
type listing struct {
	lines, keys []string
	seen        map[string]bool
}

// Bounds of a listing, in lines: what it takes, and how far it looks back for a line that says the same in more words.
const (
	maxListing = 1500
	maxBack    = 200
)

func (l *listing) add(lines ...string) {
	for _, line := range lines {
		line = oneLine(line)
		if line == "" || len(l.lines) >= maxListing || l.said(line) {
			continue
		}
		key := same(line)
		if l.seen == nil {
			l.seen = map[string]bool{}
		}
		l.seen[key] = true
		l.lines, l.keys = append(l.lines, line), append(l.keys, " "+key+" ")
	}
}

// said reports whether a statement is in the list.
func (l *listing) said(line string) bool {
	key := same(line)
	if key == "" {
		return slices.Contains(l.lines, line)
	}
	if l.seen[key] {
		return true
	}
	return slices.ContainsFunc(l.keys[max(0, len(l.keys)-maxBack):], func(k string) bool { return strings.Contains(k, " "+key+" ") })
}

// each gives the lines, each once.
func each(lines []string) []string {
	var l listing
	l.add(lines...)
	return l.lines
}
