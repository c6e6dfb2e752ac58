package lineage

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/perdure/perdure/internal/plain"
)

// A claim repeats a text that has at least so many of its words, in tenths, within twice its length.
const (
	repeated = 8
	spread   = 2
)

// Matcher holds claims and finds those that repeat what it is fed. What it needs depends on the claims alone: nothing of
// what it is fed is kept.
type Matcher struct {
	claims []claim
	by     map[string][]place
	at     int // words that were fed
}

// place is one word of one claim.
type place struct{ claim, word int }

type claim struct {
	need, window int
	last         []int // where each word was fed last, within the window; -1: nowhere
	hits         []hit // the oldest first, from head on within the window
	head         int
	found        int // words that are within the window
	repeats      bool
}

type hit struct{ at, word int }

// NewMatcher takes the claims; see [Matcher.Repeats]. One without words repeats nothing.
func NewMatcher(claims []string) *Matcher {
	m := &Matcher{by: map[string][]place{}}
	longest := 0
	for i, text := range claims {
		known, n := map[string]bool{}, 0
		for w := range words(text) {
			n++
			if !known[w] {
				m.by[w] = append(m.by[w], place{i, len(known)})
				known[w] = true
			}
		}
		c := claim{need: needed(len(known)), window: spread * n, last: make([]int, len(known))}
		for j := range c.last {
			c.last[j] = -1
		}
		m.claims = append(m.claims, c)
		longest = max(longest, c.window)
	}
	m.at = longest
	return m
}

// needed is how many of a claim's different words make a repetition.
func needed(words int) int { return (words*repeated + 9) / 10 }

// Feed compares a text with the claims.
func (m *Matcher) Feed(text string) {
	for _, way := range readings(text) {
		m.feed(way)
	}
}

// readings are the ways in which a text may be read.
func readings(text string) []string {
	if !strings.Contains(text, `\n`) {
		return []string{text}
	}
	return []string{text, strings.NewReplacer(`\n`, " ", `\r`, " ", `\t`, " ").Replace(text)} // JSON within a text
}

func (m *Matcher) feed(text string) {
	for w := range words(text) {
		m.at++
		for _, p := range m.by[w] {
			m.claims[p.claim].hit(m.at, p.word)
		}
	}
	for i := range m.claims { // no claim reaches from one text into the next
		c := &m.claims[i]
		for _, h := range c.hits {
			c.last[h.word] = -1
		}
		c.hits, c.head, c.found = c.hits[:0], 0, 0
	}
}

func (c *claim) hit(at, word int) {
	if c.repeats {
		return
	}
	for c.head < len(c.hits) && c.hits[c.head].at <= at-c.window {
		if h := c.hits[c.head]; c.last[h.word] == h.at {
			c.last[h.word] = -1
			c.found--
		}
		c.head++
	}
	if c.head > len(c.hits)/2 {
		c.hits = c.hits[:copy(c.hits, c.hits[c.head:])]
		c.head = 0
	}
	if c.last[word] < 0 {
		c.found++
	}
	c.last[word] = at
	c.hits = append(c.hits, hit{at, word})
	c.repeats = c.found >= c.need
}

// Repeats reports whether a claim repeats something that was fed: eight of ten of its words stood there close together.
func (m *Matcher) Repeats(i int) bool { return m.claims[i].repeats }

// Any reports whether one of them does.
func (m *Matcher) Any() bool {
	for i := range m.claims {
		if m.claims[i].repeats {
			return true
		}
	}
	return false
}

// colours are what a terminal obeys between the letters of a word.
var colours = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]")

// words yields the words of a text in lower case. What does not show is left out, so that it parts no words.
func words(text string) func(yield func(string) bool) {
	if strings.IndexByte(text, '\x1b') >= 0 {
		text = colours.ReplaceAllString(text, "")
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case ' ' <= r && r <= '~': // most of what there is
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			return r
		case unicode.IsSpace(r):
			return ' '
		case plain.Hidden(r):
			return -1
		}
		return unicode.ToLower(r)
	}, text)
	return strings.FieldsFuncSeq(text, func(r rune) bool {
		if r <= '~' {
			return (r < 'a' || 'z' < r) && (r < '0' || '9' < r)
		}
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.In(r, unicode.Mn, unicode.Mc)
	})
}

// Words counts the words of a text.
func Words(text string) (n int) {
	for range words(text) {
		n++
	}
	return n
}
