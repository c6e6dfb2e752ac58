package plain

import "strings"

// Redrawn is what is left to read of a text that draws over its own lines, as progress bars do: of each line what was
// written last. Carriage returns before line ends go.
func Redrawn(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		text, end := strings.CutSuffix(line, "\n")
		text = strings.TrimRight(text, "\r")
		b.WriteString(text[strings.LastIndexByte(text, '\r')+1:])
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// LineEnds is a text with one kind of line end: a carriage return alone ends a line too, as in what some terminals paste.
func LineEnds(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
