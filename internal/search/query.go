package search

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a query.
const (
	maxQuery  = 4 << 10 // bytes
	maxWords  = 64
	minPrefix = 3 // characters that a word begins with, to be enough of it
)

// Errors of [Parse].
var (
	ErrNoWords = errors.New("there is no word in it")
	ErrTooLong = errors.New("it is too long: at most 64 words and 4,096 bytes")
)

// Query is what is looked for: texts in which every word and every phrase stands.
type Query struct{ phrases []phrase }

// phrase is words that stand one after the other; of the last one the beginning may be enough.
type phrase struct {
	words  []string
	prefix bool
}

// Parse reads a query as a person writes it. Words may stand anywhere and in any order, what is in double quotes stands as
// it is; a quote that is not closed is none. What one word of a shell holds, as in foo_bar or a.go, stands together. The
// beginning is enough of the last word, if it has at least 3 characters and is not in quotes. Errors: ErrNoWords,
// ErrTooLong.
func Parse(text string) (Query, error) {
	if len(text) > maxQuery {
		return Query{}, ErrTooLong
	}
	pieces := strings.Split(strings.Map(quote, strings.ToValidUTF8(text, " ")), `"`)
	if len(pieces)%2 == 0 { // the last quote is not closed
		last := len(pieces) - 1
		pieces[last-1] += " " + pieces[last]
		pieces = pieces[:last]
	}
	var q Query
	count, open := 0, false
	add := func(text string, quoted bool) {
		var p phrase
		for _, w := range Words(text) {
			p.words = append(p.words, w.Text)
		}
		if len(p.words) > 0 {
			q.phrases = append(q.phrases, p)
			count, open = count+len(p.words), !quoted
		}
	}
	for i, piece := range pieces {
		if i%2 == 1 {
			add(piece, true)
			continue
		}
		for _, chunk := range strings.Fields(piece) {
			add(chunk, false)
		}
	}
	switch {
	case count == 0:
		return Query{}, ErrNoWords
	case count > maxWords:
		return Query{}, ErrTooLong
	}
	last := &q.phrases[len(q.phrases)-1]
	word := last.words[len(last.words)-1]
	last.prefix = open && utf8.RuneCountInString(word) >= minPrefix && !aloneBefore([]byte(word))
	return q, nil
}

// quote makes one kind of all double quotes.
func quote(r rune) rune {
	switch r {
	case '“', '”', '„', '‟':
		return '"'
	case 0:
		return ' '
	}
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}

// match is the query in the language of FTS5. Words have only letters, digits and marks, so that nothing of them is syntax.
func (q Query) match() string {
	var out []string
	for _, p := range q.phrases {
		text := `"` + strings.Join(p.words, " ") + `"`
		if p.prefix {
			text += " *"
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, " AND ")
}

// In reports whether a text is one that the query looks for, by reading it.
func (q Query) In(text string) bool {
	words := Words(text)
	for _, p := range q.phrases {
		if !slices.ContainsFunc(starts(words), func(i int) bool { return p.at(words, i) }) {
			return false
		}
	}
	return len(q.phrases) > 0
}

func starts(words []Word) []int {
	out := make([]int, len(words))
	for i := range out {
		out[i] = i
	}
	return out
}

// at reports whether a phrase stands at the i-th word.
func (p phrase) at(words []Word, i int) bool {
	if i+len(p.words) > len(words) {
		return false
	}
	for j, w := range p.words {
		is := words[i+j].Text
		if is != w && (!p.prefix || j < len(p.words)-1 || !strings.HasPrefix(is, w)) {
			return false
		}
	}
	return true
}
