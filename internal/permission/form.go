package permission

import "strings"

// The form of a word is its text with what the shell still expands in it marked by bytes that no command can hold:
// a word may have quoted stars beside living ones.
const (
	markUnknown = '\x00' // anything, slashes included
	markOpen    = '\x01' // { of a brace expansion
	markComma   = '\x02'
	markClose   = '\x03'
	markStar    = '\x04'
	markOne     = '\x05' // ?
	markClass   = '\x06' // [ that a ] closes
	markTilde   = '\x07' // ~ at the beginning of a word or of what follows = or :
)

// formBytes makes literal text safe to stand in a form.
func formBytes(s string) string {
	for i := range len(s) {
		if s[i] <= markTilde {
			return strings.Map(func(c rune) rune {
				if c <= markTilde {
					return 0x7f
				}
				return c
			}, s)
		}
	}
	return s
}

// isPattern reports that a form is more than its letters.
func isPattern(form string) bool { return strings.ContainsAny(form, "\x00\x04\x05\x06") }

// token is one step of a pattern: a character, any character, or a run of them.
type token struct {
	kind tokenKind
	c    rune
	skip int  // of skipOver: how many tokens may be left out
	head bool // it begins a segment of a path
}

type tokenKind uint8

const (
	oneChar  tokenKind = iota // the character c
	anyChar                   // any character but /
	manyChar                  // any run without /
	anything                  // any run
	skipOver                  // nothing, or leave out the next tokens
)

func (t token) loops() bool { return t.kind == manyChar || t.kind == anything }

// takes reports that a loop of this kind may swallow the character of o.
func (t token) takes(o token) bool {
	return t.kind == anything || o.kind == anyChar || o.kind == oneChar && o.c != '/'
}

// formTokens reads a form. wide: patterns also match leading dots and slashes, as some options of bash make them.
func formTokens(form string, wide bool) []token {
	out := make([]token, 0, len(form))
	head := true
	star := token{kind: manyChar}
	if wide {
		star.kind = anything
	}
	rs := []rune(form)
	for i := 0; i < len(rs); i++ {
		t := token{c: rs[i]}
		switch rs[i] {
		case markUnknown:
			t = token{kind: anything}
		case markStar:
			t = star
		case markOne:
			t = token{kind: anyChar}
		case markClass:
			if end := classEnd(rs, i); end > 0 {
				t, i = token{kind: anyChar}, end
			} else {
				t.c = '['
			}
		}
		t.head = head && !wide
		head = t.kind == oneChar && t.c == '/'
		out = append(out, t)
	}
	return out
}

// classEnd is where the class that begins at i ends, or 0. Which characters it holds does not matter: any may be meant.
func classEnd(rs []rune, i int) int {
	k := i + 1
	if k < len(rs) && (rs[k] == '!' || rs[k] == '^') {
		k++
	}
	for first := true; k < len(rs) && rs[k] != '/'; k, first = k+1, false {
		switch {
		case rs[k] == ']' && !first:
			return k
		case (rs[k] == '[' || rs[k] == markClass) && k+1 < len(rs) && strings.ContainsRune(":.=", rs[k+1]):
			kind := rs[k+1]
			end := k + 2
			for end+1 < len(rs) && !(rs[end] == kind && rs[end+1] == ']') {
				end++
			}
			if end+1 < len(rs) {
				k = end + 1
			}
		}
	}
	return 0
}

// literalTokens reads a name that is no pattern.
func literalTokens(s string) []token {
	out := make([]token, 0, len(s))
	head := true
	for _, c := range s {
		out = append(out, token{c: c, head: head})
		head = c == '/'
	}
	return out
}

// ruleTokens reads a rule's glob without braces, as seen from dir, and everything below what it names.
func ruleTokens(dir, glob string) []token {
	out := literalTokens(strings.TrimSuffix(dir, "/"))
	if glob != "." {
		for _, seg := range strings.Split(glob, "/") {
			if seg == "**" {
				out = append(out, token{kind: skipOver, skip: 2}, token{c: '/'}, token{kind: anything})
				continue
			}
			out = append(out, token{c: '/'})
			out = append(out, globSegment(seg)...)
		}
	}
	return append(out, token{kind: skipOver, skip: 2}, token{c: '/'}, token{kind: anything})
}

func globSegment(seg string) []token {
	var out []token
	rs := []rune(seg)
	for i := 0; i < len(rs); i++ {
		t := token{c: rs[i], head: i == 0}
		switch rs[i] {
		case '\\':
			if i+1 < len(rs) {
				i++
				t.c = rs[i]
			}
		case '*':
			t.kind = manyChar
		case '?':
			t.kind = anyChar
		case '[':
			if end := classEnd(rs, i); end > 0 {
				t.kind, i = anyChar, end
			}
		}
		out = append(out, t)
	}
	return out
}

// overlap reports that some text fits both patterns. As in the shell, a pattern of the word w does not match a dot at
// the beginning of a name that v writes out.
func overlap(w, v []token) bool {
	row, next := make([]bool, len(v)+1), make([]bool, len(v)+1)
	row[0] = true
	for i := 0; i <= len(w); i++ {
		clear(next)
		for j := 0; j <= len(v); j++ {
			if !row[j] {
				continue
			}
			if j < len(v) && v[j].kind == skipOver {
				row[j+1], row[j+1+v[j].skip] = true, true
				continue
			}
			if j < len(v) && v[j].loops() {
				row[j+1] = true
			}
			if i == len(w) {
				continue
			}
			step(w[i], v, j, row, next)
		}
		if i < len(w) {
			row, next = next, row
		}
	}
	return row[len(v)]
}

// step follows what one token of the word may match at v[j]: row stays at the token, next is behind it.
func step(t token, v []token, j int, row, next []bool) {
	dot := j < len(v) && t.head && v[j].head && v[j].kind == oneChar && v[j].c == '.' && (t.kind == anyChar || t.kind == manyChar)
	if dot {
		return
	}
	if t.loops() {
		next[j] = true
		if j < len(v) && !v[j].loops() && t.takes(v[j]) {
			row[j+1] = true
		}
		return
	}
	if j == len(v) {
		return
	}
	switch o := v[j]; {
	case o.loops():
		if o.takes(t) {
			next[j] = true
		}
	case t.kind == anyChar || o.kind == anyChar:
		slash := t.kind == oneChar && t.c == '/' || o.kind == oneChar && o.c == '/'
		if !slash {
			next[j+1] = true
		}
	case t.c == o.c:
		next[j+1] = true
	}
}
