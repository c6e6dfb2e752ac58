package lineage

import (
	"regexp"
	"strings"
)

// The fewest words of a line and of a sentence that are compared on their own: shorter ones stand in any text.
const (
	LeastLine     = 3
	leastSentence = 5
)

var sentence = regexp.MustCompile(`[.;:!?]+\s+|\s+[-–—]\s+`)

// Parts are the claims that a text makes: its lines of at least so many words, and their sentences, so that words of one's
// own around a repeated sentence do not hide it.
func Parts(text string, least int) (out []string) {
	for l := range strings.Lines(text) {
		if Words(l) < least {
			continue
		}
		out = append(out, l)
		split := sentence.Split(l, -1)
		for _, s := range split {
			if len(split) > 1 && Words(s) >= leastSentence {
				out = append(out, s)
			}
		}
	}
	return out
}
