package knowledge

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// title is the first line of an index.
const title = "# Memory Index"

// Entry is one line of an index: - [key](file.md) - summary.
type Entry struct {
	Key     string `json:"key"`
	File    string `json:"file"`
	Summary string `json:"summary"`
	Topic   string `json:"topic"`

	line int // from 0
}

func (e Entry) String() string { return "- [" + e.Key + "](" + e.File + ") - " + e.Summary }

// index is an index as it was read: every line of it, whatever it is, and what is understood.
type index struct {
	lines   []string
	entries []Entry
	odd     []int // lines that are neither the title, a topic, an entry nor blank
}

// parseIndex reads an index. It never fails: what it does not understand is kept as it is.
func parseIndex(text string) *index {
	x := &index{lines: lines(text)}
	topic, titled := "", false
	for i, l := range x.lines {
		l = strings.TrimRight(l, " \t\r")
		switch e, ok := parseEntry(l); {
		case l == "":
		case !titled && l == title:
			titled = true
		case strings.HasPrefix(l, "## ") && len(l) > 3:
			topic = strings.TrimSpace(l[3:])
		case ok:
			e.Topic, e.line = topic, i
			x.entries = append(x.entries, e)
		default:
			x.odd = append(x.odd, i)
		}
	}
	return x
}

// lines splits a text; an end of line at its end begins no other.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func (x *index) text() string {
	if len(x.lines) == 0 {
		return ""
	}
	return strings.Join(x.lines, "\n") + "\n"
}

func parseEntry(l string) (e Entry, ok bool) {
	rest, ok := strings.CutPrefix(l, "- [")
	if !ok {
		return e, false
	}
	if e.Key, rest, ok = strings.Cut(rest, "]("); !ok || e.Key == "" || strings.Contains(e.Key, "]") {
		return e, false
	}
	if e.File, rest, ok = strings.Cut(rest, ")"); !ok || e.File == "" {
		return e, false
	}
	if rest == "" {
		return e, true
	}
	e.Summary, ok = strings.CutPrefix(rest, " - ")
	return e, ok
}

// find gives the entry of a key, or nil.
func (x *index) find(key string) *Entry {
	for i := range x.entries {
		if x.entries[i].Key == key {
			return &x.entries[i]
		}
	}
	return nil
}

// byKey gives the entries by their keys; of two with one key the first.
func (x *index) byKey() map[string]Entry {
	out := make(map[string]Entry, len(x.entries))
	for _, e := range x.entries {
		if _, twin := out[e.Key]; !twin {
			out[e.Key] = e
		}
	}
	return out
}

// add puts an entry at the end of its topic, which is made if there is none.
func (x *index) add(e Entry) {
	if len(x.lines) == 0 {
		x.lines = []string{title}
	}
	at, found := len(x.lines), false
	for i, l := range x.lines {
		if !strings.HasPrefix(l, "## ") {
			continue
		}
		if found {
			at = i
			break
		}
		found = strings.EqualFold(strings.TrimSpace(l[3:]), e.Topic)
	}
	for at > 0 && strings.TrimSpace(x.lines[at-1]) == "" {
		at--
	}
	more := []string{e.String()}
	if !found {
		more = []string{"", "## " + e.Topic, e.String()}
	}
	*x = *parseIndex(strings.Join(slices.Insert(x.lines, at, more...), "\n"))
}

// drop removes entries.
func (x *index) drop(which func(Entry) bool) {
	for i := len(x.entries) - 1; i >= 0; i-- {
		if e := x.entries[i]; which(e) {
			x.lines = slices.Delete(x.lines, e.line, e.line+1)
		}
	}
	*x = *parseIndex(x.text())
}

// change rewrites entries.
func (x *index) change(which func(Entry) bool, to func(Entry) Entry) {
	for _, e := range x.entries {
		if which(e) {
			x.lines[e.line] = to(e).String()
		}
	}
	*x = *parseIndex(x.text())
}

// check says what is wrong with an index that was not wrong with it before.
func (x *index) check(before *index) error {
	if first := slices.IndexFunc(x.lines, func(l string) bool { return strings.TrimSpace(l) != "" }); first >= 0 &&
		len(before.lines) == 0 && strings.TrimSpace(x.lines[first]) != title {
		return refuse("the index begins with the line %q, then topics such as \"## Decisions\", and below them entries such as "+
			"\"- [key](file.md) - summary\"; details go into files of their own", title)
	}
	old := counts(before.lines)
	for _, i := range x.odd {
		if old[x.lines[i]] == 0 {
			return refuse("line %d of the index would be no entry: write \"- [key](file.md) - summary\" below a topic, and details into "+
				"the file of the entry: %q", i+1, clip(x.lines[i]))
		}
	}
	for _, e := range x.entries {
		if old[x.lines[e.line]] > 0 {
			continue
		}
		if err := e.check(); err != nil {
			return refuse("line %d of the index: %v", e.line+1, err)
		}
	}
	return x.checkTwins(old)
}

// checkTwins refuses a line that is not in old as often, if another one has its key or says the same.
func (x *index) checkTwins(old map[string]int) error {
	now, first := counts(x.lines), map[string]Entry{}
	for _, e := range x.entries {
		for _, mark := range []string{"key " + e.Key, "says " + norm(e.Summary)} {
			other, twin := first[mark]
			if !twin {
				first[mark] = e
				continue
			}
			added := func(l string) bool { return now[l] > old[l] }
			if mark != "says " && (added(x.lines[e.line]) || added(x.lines[other.line])) {
				return refuse("lines %d and %d of the index would say the same: %s", other.line+1, e.line+1, clip(e.String()))
			}
		}
	}
	return nil
}

// counts says how often each line is there.
func counts(list []string) map[string]int {
	n := make(map[string]int, len(list))
	for _, l := range list {
		n[l]++
	}
	return n
}

// maxSummary bounds the line of an entry, in bytes: what is longer belongs into its file.
const maxSummary = 200

func (e Entry) check() error {
	switch {
	case e.Topic == "":
		return fmt.Errorf("an entry stands below a topic, such as \"## Decisions\"")
	case e.Summary == "":
		return fmt.Errorf("the entry %s has no summary", clip(e.Key))
	case len(e.Summary) > maxSummary:
		return fmt.Errorf("the summary of %s has %d bytes, at most %d are allowed: details go into %s", clip(e.Key), len(e.Summary), maxSummary, clip(e.File))
	case e.File == indexName:
		return fmt.Errorf("the entry %s leads to the index itself", clip(e.Key))
	}
	if err := checkName(e.File); err != nil {
		return fmt.Errorf("%s is no file of this memory: %w", clip(e.File), err)
	}
	return nil
}

// norm is what a text says, whatever its case, spaces and punctuation.
func norm(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Sc, unicode.Sm)
	}), " ")
}
