package learn

import (
	"regexp"
	"strings"

	"github.com/perdure/perdure/internal/lineage"
)

var tagged = regexp.MustCompile(`^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?:\*\*|__)?\[(DECISION|GOTCHA|REUSE|CORRECTION)\](?:\*\*|__)?\s*[:–—-]?\s*(.*)$`)

var item = regexp.MustCompile(`^\s*(?:[-*+]|\d{1,9}[.)])\s`)

// maxContinued bounds the lines that a tagged one goes on in.
const maxContinued = 10

// tags finds the tagged lines of a text that are its writer's own.
func tags(text string) (out []Found) {
	own := lineage.Own(text)
	for i := 0; i < len(own); i++ {
		m := tagged.FindStringSubmatch(own[i].Text)
		if m == nil {
			continue
		}
		words := m[2]
		for again := tagged.FindStringSubmatch(words); again != nil; again = tagged.FindStringSubmatch(words) {
			words = again[2] // of several tags the first counts
		}
		for n := 0; n < maxContinued && i+1 < len(own) && goesOn(own[i], own[i+1]); n++ {
			i++
			words += " " + strings.TrimSpace(own[i].Text)
		}
		out = append(out, Found{Tag: Tag(m[1]), Text: strings.TrimSpace(words)})
	}
	return out
}

// goesOn reports whether a line continues the one before it: it is indented, and no item of its own.
func goesOn(before, l lineage.Line) bool {
	return l.N == before.N+1 && (strings.HasPrefix(l.Text, "  ") || strings.HasPrefix(l.Text, "\t")) &&
		!item.MatchString(l.Text) && !tagged.MatchString(l.Text)
}
