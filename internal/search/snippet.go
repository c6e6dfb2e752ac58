package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// snippetSize is about how many bytes of a text are shown around the words.
const snippetSize = 200

// Snippet is a piece of a text on one line, with the places of the words that were looked for.
type Snippet struct {
	Text  string
	Marks [][2]int // from and to, in bytes of Text, in order and apart
}

// snippet cuts the piece of a text out in which most of a query stands.
func (q Query) snippet(text string) Snippet {
	words := Words(text)
	of := make([]int, len(words)) // the phrase that a word belongs to, from 1
	for n, p := range q.phrases {
		for i := range words {
			if !p.at(words, i) {
				continue
			}
			for j := range p.words {
				of[i+j] = n + 1
			}
		}
	}
	from, to := densest(words, of, len(q.phrases))
	return cutOut(text, words, of, from, to)
}

// densest is the stretch of words, at most about a snippet long, in which most phrases stand; the first one of such.
func densest(words []Word, of []int, phrases int) (from, to int) {
	best, bestFrom, bestTo := 0, 0, 0
	counts, distinct, left := make([]int, phrases+1), 0, 0
	for right := range words {
		if of[right] == 0 {
			continue
		}
		if counts[of[right]]++; counts[of[right]] == 1 {
			distinct++
		}
		for words[right].To-words[left].From > snippetSize && left < right {
			if n := of[left]; n > 0 {
				if counts[n]--; counts[n] == 0 {
					distinct--
				}
			}
			left++
		}
		if distinct > best {
			best, bestFrom, bestTo = distinct, left, right
		}
	}
	if best == 0 {
		return 0, 0
	}
	for of[bestFrom] == 0 {
		bestFrom++
	}
	return words[bestFrom].From, words[bestTo].To
}

// cutOut gives the text from one place to another, with as much around it as a snippet has room for.
func cutOut(text string, words []Word, of []int, from, to int) Snippet {
	around := max(0, snippetSize-(to-from))
	begin, end := max(0, from-around/3), min(len(text), max(to+around-around/3, snippetSize))
	for begin > 0 && !blankAt(text, begin-1) && from-begin < around/3+20 {
		begin--
	}
	for end < len(text) && !blankAt(text, end) && end < to+around+20 {
		end++
	}
	for begin < len(text) && !utf8.RuneStart(text[begin]) {
		begin++
	}
	for end < len(text) && end > begin && !utf8.RuneStart(text[end]) {
		end--
	}
	var b squeezer
	if begin > 0 {
		b.out.WriteString("… ")
	}
	var s Snippet
	at := begin
	for i, w := range words {
		if of[i] == 0 || w.From < at || w.To > end {
			continue
		}
		b.write(text[at:w.From])
		start := b.out.Len()
		b.write(text[w.From:w.To])
		s.Marks = append(s.Marks, [2]int{start, b.out.Len()})
		at = w.To
	}
	b.write(text[at:max(at, end)])
	if strings.TrimSpace(text[max(at, end):]) != "" {
		b.out.WriteString(" …")
	}
	s.Text = strings.TrimRight(b.out.String(), " ")
	return s
}

func blankAt(text string, i int) bool { return text[i] == ' ' || text[i] == '\n' || text[i] == '\t' }

// squeezer writes text with one blank for each stretch of blanks.
type squeezer struct {
	out   strings.Builder
	blank bool
}

func (s *squeezer) write(text string) {
	for _, r := range text {
		if unicode.IsSpace(r) {
			if !s.blank && s.out.Len() > 0 {
				s.out.WriteByte(' ')
			}
			s.blank = true
			continue
		}
		s.blank = false
		s.out.WriteRune(r)
	}
}
