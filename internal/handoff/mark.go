package handoff

import (
	"fmt"
	"strings"
)

// Mark gives a reader the text: a first line with its age and how much of what it names is gone or changed, and a mark
// behind each such name.
func Mark(text string, s Stale) string {
	marks := map[string]string{}
	count := map[string]int{}
	for _, t := range s.Things {
		marks[t.Name] = t.Change
		count[t.Change]++
	}
	var b strings.Builder
	b.WriteString("[" + s.sentence(count) + "]\n\n")
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, commentBegin) {
			line = marked(line, marks)
		}
		b.WriteString(line)
	}
	return b.String()
}

func (s Stale) sentence(count map[string]int) string {
	text := "This handoff is " + s.Age + "."
	if s.Age == "" {
		text = "Nobody knows how old this handoff is."
	}
	if len(s.Things) > 0 {
		be, have := "are", "have"
		if count[Gone] == 1 {
			be = "is"
		}
		if count[Changed] == 1 {
			have = "has"
		}
		text += fmt.Sprintf(" Of what it names, %d %s gone and %d %s changed since it was written: look before you rely on it.", count[Gone], be, count[Changed], have)
	}
	return text
}

// marked is a line with a mark behind each name that has one.
func marked(line string, marks map[string]string) string {
	for _, label := range []string{"- Created: ", "- Changed: "} {
		if path, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), label); ok && marks[path] != "" {
			return label + path + " [" + marks[path] + "]" + line[len(label)+len(path):]
		}
	}
	var b strings.Builder
	done := 0
	for _, w := range wordsOf(line) {
		if mark := marks[w.text]; mark != "" {
			b.WriteString(line[done:w.after] + " [" + mark + "]")
			done = w.after
		}
	}
	return b.String() + line[done:]
}
