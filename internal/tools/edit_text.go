package tools

import (
	"bytes"
	"sort"
	"strings"
)

// text is a file's content as Edit looks at it: lines end with a plain newline, whatever the file has, so that a
// model need not see carriage returns. The places of those taken out are known, and nothing outside of a replaced
// place is touched.
type text struct {
	raw     []byte
	env     Env // whose secrets are hidden in what is said about the text
	norm    []byte
	returns []int // where in norm a newline had a carriage return before it, ascending
	start   int   // length of a byte order mark in raw, which is not in norm
	crlf    bool  // most lines end with CR LF
}

func newText(raw []byte) *text {
	t := &text{raw: raw}
	if bytes.HasPrefix(raw, []byte(byteOrderMark)) {
		t.start = len(byteOrderMark)
	}
	body := raw[t.start:]
	pairs := bytes.Count(body, []byte("\r\n"))
	if pairs == 0 {
		t.norm = body
		return t
	}
	t.crlf = pairs*2 > bytes.Count(body, []byte("\n"))
	t.norm, t.returns = make([]byte, 0, len(body)-pairs), make([]int, 0, pairs)
	for i, c := range body {
		if c == '\r' && i+1 < len(body) && body[i+1] == '\n' {
			t.returns = append(t.returns, len(t.norm))
			continue
		}
		t.norm = append(t.norm, c)
	}
	return t
}

// at gives the place in raw of a place in norm. A newline's place is that of its carriage return.
func (t *text) at(i int) int {
	return t.start + i + sort.SearchInts(t.returns, i)
}

// span is a place in norm.
type span struct{ from, to int }

// find gives the places of old: exactly one, or with all every one. Otherwise it says what is wrong.
func (t *text) find(path, old string, all bool) ([]span, *Result) {
	want := []byte(strings.ReplaceAll(strings.TrimPrefix(old, byteOrderMark), "\r\n", "\n"))
	var places []span
	if len(want) > 0 {
		for i := 0; len(places) <= maxReplacements; {
			n := bytes.Index(t.norm[i:], want)
			if n < 0 {
				break
			}
			places = append(places, span{i + n, i + n + len(want)})
			i += n + len(want)
		}
	}
	// A second place that overlaps the first is as ambiguous as any other.
	if len(places) == 1 && !all {
		if n := bytes.Index(t.norm[places[0].from+1:], want); n >= 0 {
			places = append(places, span{places[0].from + 1 + n, places[0].from + 1 + n + len(want)})
		}
	}
	var r Result
	switch n := len(places); {
	case n == 0:
		r = failure("old_string was not found in %s%s", path, nearest(t.env, t.norm, want))
	case n > maxReplacements:
		r = failure("old_string occurs over %d times in %s", maxReplacements, path)
	case n > 1 && !all:
		r = failure("old_string occurs %d times in %s (lines %s); add lines around it until it is the only one, or set replace_all",
			n, path, t.lineList(places))
	default:
		return places, nil
	}
	return nil, &r
}

// maxListed bounds the lines that a refusal names.
const maxListed = 10

// lineList names the lines where places begin.
func (t *text) lineList(places []span) string {
	var list []string
	line, at := 1, 0
	for i, p := range places {
		if i == maxListed {
			list = append(list, "…")
			break
		}
		line += bytes.Count(t.norm[at:p.from], []byte("\n"))
		at = p.from
		list = append(list, itoa(line))
	}
	return strings.Join(list, ", ")
}

// replace gives the new content, and the first changed line with how many lines the new text has.
func (t *text) replace(places []span, new string) (content []byte, line, lines int) {
	repl := strings.ReplaceAll(new, "\r\n", "\n")
	withReturns := strings.ReplaceAll(repl, "\n", "\r\n")
	out := make([]byte, 0, len(t.raw)+len(withReturns))
	at := 0
	for _, p := range places {
		out = append(out, t.raw[at:t.at(p.from)]...)
		if t.endsWithReturn(p) {
			out = append(out, withReturns...)
		} else {
			out = append(out, repl...)
		}
		at = t.at(p.to)
	}
	out = append(out, t.raw[at:]...)
	line = 1 + bytes.Count(t.norm[:places[0].from], []byte("\n"))
	return out, line, max(1, countLines([]byte(repl)))
}

// endsWithReturn tells which line ending a place gets: that of its own first newline, else the file's usual one.
func (t *text) endsWithReturn(p span) bool {
	i := bytes.IndexByte(t.norm[p.from:p.to], '\n')
	if i < 0 {
		return t.crlf
	}
	k := sort.SearchInts(t.returns, p.from+i)
	return k < len(t.returns) && t.returns[k] == p.from+i
}
