package diffview

import (
	"unicode"
	"unicode/utf8"
)

// span is a part of a line, by its bytes.
type span struct{ from, to int }

// Bounds of the comparison of words.
const (
	maxWords = 200 // in a line; of a longer one the middle that differs is marked
	alike    = 0.4 // of a line at least must be the same, or it is another line
)

// changed are the parts of each line that differ from the line that it takes the place of.
func changed(rows []row) [][]span {
	hot := make([][]span, len(rows))
	for i := 0; i < len(rows); {
		if rows[i].sign != '-' {
			i++
			continue
		}
		from := i
		for i < len(rows) && rows[i].sign == '-' {
			i++
		}
		middle := i
		for i < len(rows) && rows[i].sign == '+' {
			i++
		}
		for k := 0; from+k < middle && middle+k < i; k++ {
			hot[from+k], hot[middle+k] = differ(rows[from+k].text, rows[middle+k].text)
		}
	}
	return hot
}

// differ are the words of two lines that the other one has not. Lines that have little in common have none.
func differ(a, b string) (inA, inB []span) {
	if len(a) > maxLine || len(b) > maxLine || a == b {
		return nil, nil
	}
	wa, wb := words(a), words(b)
	first, end := 0, 0
	for first < len(wa) && first < len(wb) && a[wa[first].from:wa[first].to] == b[wb[first].from:wb[first].to] {
		first++
	}
	for end < len(wa)-first && end < len(wb)-first && text(a, wa, len(wa)-1-end) == text(b, wb, len(wb)-1-end) {
		end++
	}
	ma, mb := wa[first:len(wa)-end], wb[first:len(wb)-end]
	keepA, keepB := make([]bool, len(ma)), make([]bool, len(mb))
	if len(ma) <= maxWords && len(mb) <= maxWords {
		common(a, b, ma, mb, keepA, keepB)
	}
	inA, inB = spans(ma, keepA), spans(mb, keepB)
	if float64(size(inA)) > (1-alike)*float64(len(a)) && float64(size(inB)) > (1-alike)*float64(len(b)) {
		return nil, nil
	}
	return inA, inB
}

func text(s string, w []span, i int) string { return s[w[i].from:w[i].to] }

// common marks a longest sequence of words that both have.
func common(a, b string, wa, wb []span, keepA, keepB []bool) {
	n := len(wb) + 1
	best := make([]int16, (len(wa)+1)*n)
	for i := len(wa) - 1; i >= 0; i-- {
		for j := len(wb) - 1; j >= 0; j-- {
			if text(a, wa, i) == text(b, wb, j) {
				best[i*n+j] = best[(i+1)*n+j+1] + 1
			} else {
				best[i*n+j] = max(best[(i+1)*n+j], best[i*n+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(wa) && j < len(wb); {
		switch {
		case text(a, wa, i) == text(b, wb, j):
			keepA[i], keepB[j] = true, true
			i, j = i+1, j+1
		case best[(i+1)*n+j] >= best[i*n+j+1]:
			i++
		default:
			j++
		}
	}
}

// words parts a line into words, runs of blanks and single signs.
func words(s string) []span {
	sort := func(r rune) int {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || unicode.IsMark(r):
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 0
	}
	var out []span
	was := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if k := sort(r); k == 0 || k != was {
			out, was = append(out, span{i, i}), k
		}
		i += n
		out[len(out)-1].to = i
	}
	return out
}

// spans joins the words that are not kept.
func spans(w []span, keep []bool) []span {
	var out []span
	for i, x := range w {
		switch k := len(out) - 1; {
		case keep[i]:
		case k >= 0 && out[k].to == x.from:
			out[k].to = x.to
		default:
			out = append(out, x)
		}
	}
	return out
}

func size(s []span) (n int) {
	for _, x := range s {
		n += x.to - x.from
	}
	return n
}
