package tools

import (
	"bytes"
	"strings"
)

// search looks at the lines of one file's content.
func (g *grep) search(name string, b []byte) {
	count, line := 0, 0
	printed := 0                         // the last line shown
	until := 0                           // lines up to this one follow a match
	starts := make([]int, 0, g.before+1) // where the lines before this one begin, as many as may be shown
	for at := 0; at < len(b) && !g.out.full; {
		line++
		end := len(b)
		if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
			end = at + i
		}
		text := bytes.TrimSuffix(b[at:end], []byte("\r"))
		switch {
		case g.re.Match(text):
			count++
			if g.mode == "files_with_matches" {
				g.out.add(name)
				return
			}
			if g.mode == "content" {
				g.lead(name, b, starts, line, printed)
				g.out.add(g.format(name, line, text, ':'))
				printed, until = line, line+g.after
			}
		case g.mode == "content" && line <= until:
			g.out.add(g.format(name, line, text, '-'))
			printed = line
		}
		if g.before > 0 {
			if len(starts) == g.before {
				starts = append(starts[:0], starts[1:]...)
			}
			starts = append(starts, at)
		}
		at = end + 1
	}
	if g.mode == "count" && count > 0 {
		g.out.add(name + ":" + itoa(count))
	}
}

// lead shows the lines before a match that were not shown yet, after a separator if there is a hole.
func (g *grep) lead(name string, b []byte, starts []int, line, printed int) {
	first := max(line-len(starts), printed+1)
	hole := first > printed+1 || printed == 0
	if hole && g.before+g.after > 0 && g.out.entries > 0 {
		g.out.add("--")
	}
	for n := first; n < line; n++ {
		at := starts[len(starts)-(line-n)]
		text, _, _ := bytes.Cut(b[at:], []byte("\n"))
		g.out.add(g.format(name, n, bytes.TrimSuffix(text, []byte("\r")), '-'))
	}
}

// format gives one line as grep prints it.
func (g *grep) format(name string, line int, text []byte, mark byte) string {
	var s strings.Builder
	s.WriteString(name)
	s.WriteByte(mark)
	if g.numbers {
		s.WriteString(itoa(line))
		s.WriteByte(mark)
	}
	text, _ = g.env.hide(text, false)
	shown, cut := cutChars(text, maxGrepChars)
	s.Write(bytes.ToValidUTF8(shown, []byte("\uFFFD")))
	if cut > 0 {
		s.WriteString("… [line cut: " + itoa(cut) + " more bytes]")
	}
	return s.String()
}

// grepOutput holds what is shown, within its bounds.
type grepOutput struct {
	limit   int // entries
	entries int
	text    strings.Builder
	full    bool   // something was left out
	why     string // what bound was met
}

func (o *grepOutput) add(line string) {
	switch {
	case o.full:
	case o.entries >= o.limit:
		o.full, o.why = true, "the first "+itoa(o.limit)+" are shown; raise head_limit or narrow the search"
	case o.text.Len()+len(line) > maxOutput:
		o.full, o.why = true, "the first "+itoa(maxOutput)+" bytes are shown; narrow the search"
	default:
		o.entries++
		o.text.WriteString(line)
		o.text.WriteByte('\n')
	}
}

// result words what was found.
func (g *grep) result(notes []string) Result {
	lines := []string{strings.TrimSuffix(g.out.text.String(), "\n")}
	if g.out.entries == 0 {
		lines[0] = "(no match)"
	}
	if g.out.full {
		lines = append(lines, "[there is more: "+g.out.why+"]")
	}
	if g.skipped > 0 {
		lines = append(lines, "["+itoa(g.skipped)+" files over "+itoa(maxGrepFile)+" bytes were not searched; use a command]")
	}
	return success("%s", strings.Join(append(lines, notes...), "\n"))
}
