package export

import "strings"

// tame takes from Markdown what is no text outside of code: tags, and images that are loaded from elsewhere. Links stay.
//
// Programs differ in what they take for code. So code is only what is code for all of them: a fence that stands at the
// start of its line where no other fence stands elsewhere, and backticks that are a pair on their line with none left
// over in the paragraph before it. Everything else is tamed, at the worst with an entity that shows. They are entities
// because there are programs that overlook a backslash behind some line breaks.
func tame(text string) string {
	if !strings.ContainsAny(text, "<!") {
		return text
	}
	plainFences := onlyPlainFences(text)
	var b strings.Builder
	fence, sure := "", true
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		switch {
		case bare == "":
			sure = true
		case fence != "":
			if closes(line, fence) {
				fence = ""
			}
			b.WriteString(line)
			continue
		case plainFences && line[0] != ' ' && fenceOf(bare) != "":
			fence, sure = fenceOf(bare), true
			line = strings.ReplaceAll(line, "<", "") // the name of a language has none
		default:
			line, sure = tameLine(line, sure)
		}
		b.WriteString(line)
	}
	return b.String()
}

func closes(line, fence string) bool {
	bare := strings.TrimSpace(line)
	return indentOf(line) < 4 && len(bare) >= len(fence) && strings.Trim(bare, fence[:1]) == ""
}

// onlyPlainFences reports that every fence of a text stands at the start of its line.
func onlyPlainFences(text string) bool {
	fence := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		switch {
		case fenceOf(bare) != "" && strings.Contains(indent, "\t"):
			return false // how deep that is depends on where the text stands
		case fence != "":
			if closes(line, fence) {
				fence = ""
			}
		case fenceOf(bare) != "" && line[0] == bare[0]:
			fence = fenceOf(bare)
		case strings.Contains(line, "```"), strings.Contains(line, "~~~"):
			return false
		}
	}
	return true
}

// tameLine is tame for a line outside of fences. sure says that no backtick before it is without its pair, and is given
// back for the next line.
func tameLine(line string, sure bool) (string, bool) {
	var b strings.Builder
	cells := strings.Contains(line, "|")
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '`':
			n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
			end := pairOf(line, i+n, n)
			switch {
			case end < 0:
				sure = false
			case sure && !cells:
				n = end - i
			}
			b.WriteString(line[i : i+n])
			i += n - 1
		case c == '\\' && i+1 < len(line):
			switch i++; line[i] {
			case '<':
				b.WriteString("&lt;")
			case '!':
				b.WriteString("&#33;")
			default:
				sure = sure && line[i] != '`' // who overlooks the backslash sees another pair
				b.WriteString(line[i-1 : i+1])
			}
		case c == '<' && !links(line[i:]):
			b.WriteString("&lt;")
		case c == '!' && strings.HasPrefix(line[i+1:], "["):
			b.WriteString("&#33;")
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), sure
}

// pairOf is where the code ends that n backticks before from begin; -1: not on this line.
func pairOf(line string, from, n int) int {
	for i := from; i < min(len(line), from+maxSpan); i++ {
		if line[i] != '`' {
			continue
		}
		run := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
		if run == n {
			return i + n
		}
		i += run - 1
	}
	return -1
}

// links reports whether text begins with a link in angle brackets.
func links(text string) bool {
	end := strings.IndexAny(text[:min(len(text), maxLink)], "> `\n")
	return end > 1 && text[end] == '>' && safeLink(text[1:end]) != ""
}
