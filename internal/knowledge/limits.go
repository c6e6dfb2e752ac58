package knowledge

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of a scope. An index that fits is whole in every session's first request: see MaxBriefBytes.
const (
	MaxIndexLines = 200
	MaxIndexBytes = 25_000
	MaxFileBytes  = 64 << 10
	MaxFiles      = 256
	MaxAllBytes   = 16 << 20

	guardLines = 10 // files of more lines are guarded against being cut down by accident
	maxDemote  = 5  // entries that a refusal names
)

// Refusal is a change that a rule of the memory forbids, in words for who asked for it.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }

func refuse(format string, args ...any) error { return &Refusal{Text: fmt.Sprintf(format, args...)} }

// clip shortens what a message quotes.
func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// guardShrink refuses a rewrite that loses most of a file: a text that stands for "the rest as before", for instance.
func guardShrink(shown string, before, after []byte) error {
	if lost, of := shrinkage(before, after); lost > 0 {
		return refuse("this would drop %d of the %d lines of %s. If that is meant, delete the file first, then create it anew; "+
			"to change some lines, replace only those", lost, of, shown)
	}
	return nil
}

// shrinkage is how many of a file's lines a rewrite would lose, if that is more than half of a file that is not short; else
// 0.
func shrinkage(before, after []byte) (lost, of int) {
	old := lines(string(before))
	if len(old) <= guardLines {
		return 0, len(old)
	}
	left := map[string]int{}
	for _, l := range lines(string(after)) {
		left[l]++
	}
	kept := 0
	for _, l := range old {
		if left[l] > 0 {
			left[l]--
			kept++
		}
	}
	if 2*kept >= len(old) {
		return 0, len(old)
	}
	return len(old) - kept, len(old)
}

// checkText refuses what is no text, or too long for a file.
func checkText(shown string, before, after []byte) error {
	switch {
	case !utf8.Valid(after) || bytes.IndexByte(after, 0) >= 0:
		return refuse("%s must be text", shown)
	case len(after) > MaxFileBytes && len(after) > len(before):
		return refuse("%s would have %d bytes, at most %d are allowed: keep what will be needed again, or split it by subject", shown, len(after), MaxFileBytes)
	}
	return nil
}

// checkRoom refuses another file, or more bytes, than a scope holds.
func checkRoom(list []Kept, name string, size int) error {
	total, n, known := int64(size), 1, false
	for _, k := range list {
		if k.Name == name {
			known = true
			continue
		}
		n++
		total += k.Size
	}
	switch {
	case !known && n > MaxFiles:
		return refuse("the memory has %d files, as many as it can: delete or join some that are no longer needed", MaxFiles)
	case total > MaxAllBytes:
		return refuse("the memory would have %d bytes, at most %d are allowed: delete what is no longer needed", total, MaxAllBytes)
	}
	return nil
}

// checkFits refuses an index that would not fit a request, with the entries that could go first.
func (x *index) checkFits(shown string, before *index, m *meta) error {
	text, old := x.text(), before.text()
	over := len(x.lines) > MaxIndexLines && len(x.lines) > len(before.lines) || len(text) > MaxIndexBytes && len(text) > len(old)
	if !over {
		return nil
	}
	return refuse("%s would have %d lines and %d bytes, at most %d and %d are allowed, so that all of it is always read. "+
		"Demote entries first: move what is still needed into another entry's file and delete the line. Least lately confirmed: %s",
		shown, len(x.lines), len(text), MaxIndexLines, MaxIndexBytes, demote(before, m))
}

// demote names the entries that nobody confirmed for longest.
func demote(x *index, m *meta) string {
	list := slices.Clone(x.entries)
	slices.SortStableFunc(list, func(a, b Entry) int {
		return cmp.Compare(m.Entries[a.Key].Confirmed, m.Entries[b.Key].Confirmed)
	})
	var words []string
	for _, e := range list[:min(len(list), maxDemote)] {
		when := m.Entries[e.Key].Confirmed
		if when == "" {
			when = "never"
		}
		words = append(words, fmt.Sprintf("%s (%s)", clip(e.Key), when))
	}
	if len(words) == 0 {
		return "none is an entry"
	}
	return strings.Join(words, ", ")
}
