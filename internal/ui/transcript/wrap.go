package transcript

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/internal/ui/theme"
)

// Cells from one stop of a tab to the next: in what a command printed, and in what somebody wrote.
const (
	tabOutput = 8
	tabProse  = 4
)

// maxPiece bounds what is wrapped at once, in bytes: a longer line goes on in the next.
const maxPiece = 4 << 10

// Clean makes a line safe to show: no byte that a terminal obeys, of a line that was written over only what stood last,
// tabs as blanks up to the next stop.
func Clean(line string, stop int) string {
	line = plain.Joined(plain.Redrawn(line))
	if !strings.ContainsRune(line, '\t') {
		return line
	}
	var b strings.Builder
	at := 0
	for i, part := range strings.Split(line, "\t") {
		if i > 0 {
			n := stop - at%stop
			b.WriteString(strings.Repeat(" ", n))
			at += n
		}
		b.WriteString(part)
		at += ansi.StringWidth(part)
	}
	return b.String()
}

// words breaks a line between words, and hard breaks it anywhere.
func words(width int) func(string) []string {
	return func(line string) []string {
		return theme.Wrap(Clean(line, tabProse), width)
	}
}

func hard(width int) func(string) []string {
	return func(line string) []string {
		return theme.Break(Clean(line, tabOutput), width)
	}
}

// ends are the lines of a text: all, or only the first and the last ones if they are more than head and tail together.
// left is how many are left out between them. Only what is shown is wrapped, however long the text is.
func ends(text string, head, tail int, wrap func(string) []string) (first, last []string, left int) {
	all, rest := wrapHead(text, head+tail+1, wrap)
	if rest == "" && len(all) <= head+tail {
		return all, nil, 0
	}
	first, rest = wrapHead(text, head, wrap)
	if n := len(first) - head; n > 0 {
		first, left = first[:head], left+n
	}
	last, rest = wrapTail(rest, tail, wrap)
	if n := len(last) - tail; n > 0 {
		last, left = last[n:], left+n
	}
	if rest != "" {
		left += strings.Count(strings.TrimSuffix(rest, "\n"), "\n") + 1
	}
	return first, last, left
}

// wrapHead wraps a text from its beginning until there are at least n lines, and gives the rest.
func wrapHead(text string, n int, wrap func(string) []string) (lines []string, rest string) {
	for text != "" && len(lines) < n {
		line, after, more := strings.Cut(text, "\n")
		line = plain.Redrawn(line)
		for begun := false; (line != "" || !begun) && len(lines) < n; begun = true {
			piece := pieceOf(line)
			lines = append(lines, wrap(piece)...)
			line = line[len(piece):]
		}
		if line != "" && more {
			line += "\n"
		}
		if line != "" {
			return lines, line + after
		}
		text = after
	}
	return lines, text
}

// wrapTail wraps a text from its end until there are at least n lines, and gives the rest.
func wrapTail(text string, n int, wrap func(string) []string) (lines []string, rest string) {
	var parts [][]string // the last one first
	for count := 0; text != "" && count < n; {
		text = strings.TrimSuffix(text, "\n")
		cut := strings.LastIndexByte(text, '\n') + 1
		line := plain.Redrawn(text[cut:])
		text = text[:cut]
		for begun := false; (line != "" || !begun) && count < n; begun = true {
			from := max(len(line)-maxPiece, 0)
			for step := 0; from > 0 && step < utf8.UTFMax && !utf8.RuneStart(line[from]); step++ {
				from++
			}
			part := wrap(line[from:])
			parts = append(parts, part)
			count += len(part)
			line = line[:from]
		}
		text += line
	}
	slices.Reverse(parts)
	return slices.Concat(parts...), text
}

// pieceOf is as much of a line as is wrapped at once.
func pieceOf(line string) string {
	if len(line) <= maxPiece {
		return line
	}
	n := maxPiece
	for back := 0; back < utf8.UTFMax && !utf8.RuneStart(line[n]); back++ {
		n--
	}
	return line[:n]
}

// signed puts a sign before the first of some lines, and blanks before the others.
func signed(sign string, lines []string) []string {
	indent := strings.Repeat(" ", ansi.StringWidth(sign))
	for i, l := range lines {
		if i == 0 {
			lines[i] = sign + l
		} else {
			lines[i] = indent + l
		}
	}
	return lines
}
