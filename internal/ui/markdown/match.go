package markdown

import (
	"slices"
	"strings"
)

// match finds which runs of marks from the given one on belong together, the nearest ones first, and forgets them all.
func (p *scanner) match(bottom int) {
	type sort struct {
		mark  byte
		opens bool
		rest  int16
	}
	lowest := map[sort]int{} // below it none of a sort begins anything
	for c := bottom; c < len(p.runs); {
		end := &p.tokens[p.runs[c]]
		if !end.closes || end.n == 0 {
			c++
			continue
		}
		key := sort{end.mark, end.opens, end.n % 3}
		o := c - 1
		for ; o >= max(bottom, lowest[key]); o-- {
			if pairs(&p.tokens[p.runs[o]], end) {
				break
			}
		}
		if o < max(bottom, lowest[key]) {
			lowest[key] = c
			c++
			continue
		}
		p.pair(p.runs[o], p.runs[c])
		p.runs = slices.Delete(p.runs, o+1, c) // what lies between them and was not matched never will be
		for k, low := range lowest {
			lowest[k] = min(low, o)
		}
		c = o + 1
		if p.tokens[p.runs[o]].n == 0 {
			p.runs = slices.Delete(p.runs, o, o+1)
			c--
		}
	}
	p.runs = p.runs[:bottom]
}

// pairs reports whether one run may begin what another ends.
func pairs(begin, end *token) bool {
	if begin.mark != end.mark || !begin.opens || begin.n == 0 {
		return false
	}
	both := begin.opens && begin.closes || end.opens && end.closes
	return !both || (begin.n+end.n)%3 != 0 || begin.n%3 == 0 && end.n%3 == 0 || begin.mark == '~'
}

// pair takes the marks off two runs.
func (p *scanner) pair(begin, end int) {
	a, b := &p.tokens[begin], &p.tokens[end]
	n, what := int16(1), 1
	if a.n >= 2 && b.n >= 2 {
		n, what = 2, 0
	}
	if a.mark == '~' {
		what = 2
	}
	a.n -= n
	b.n -= n
	p.tokens[begin+1].begin[what]++
	b.done[what]++
}

// result are the spans. The marks of those ways of writing in keep stay.
func (p *scanner) result(keep attr) []span {
	marks := [3]string{"**", "*", "~~"}
	bits := [3]attr{strong, emph, struck}
	var depth [3]int
	spans := make([]span, 0, len(p.tokens))
	for i := range p.tokens {
		t := &p.tokens[i]
		for k := range depth {
			was := depth[k]
			depth[k] += int(t.begin[k] - t.done[k])
			if keep&bits[k] != 0 && (was == 0) != (depth[k] == 0) {
				spans = append(spans, span{text: marks[k]})
			}
		}
		s := t.span
		if t.n > 0 {
			s.text = strings.Repeat(string(t.mark), int(t.n))
		}
		if keep&code != 0 && s.attr&code != 0 {
			s.text = "`" + s.text + "`"
		}
		for k, bit := range bits {
			if depth[k] > 0 {
				s.attr |= bit
			}
		}
		if s.text != "" || s.end {
			spans = append(spans, s)
		}
	}
	return spans
}
