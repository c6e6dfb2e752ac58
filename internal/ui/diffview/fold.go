package diffview

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
)

// part is text that looks the same.
type part struct {
	text string
	hot  bool // it is what changed in its line
}

// parts are a line as it is shown, with what changed in it apart.
func (p *page) parts(r row, hot []span) []part {
	s := r.text
	if p.returns {
		s = strings.TrimSuffix(s, "\r")
	}
	cut := 0
	if len(s) > maxLine {
		end := maxLine
		for end > 0 && s[end]&0xc0 == 0x80 {
			end--
		}
		s, cut = s[:end], len(s)-end
	}
	var out []part
	used, at := 0, 0
	put := func(to int, hot bool) {
		if to = min(to, len(s)); at < to {
			text := tabs(plain.Visible(s[at:to]), &used)
			out = append(out, part{text, hot})
			at = to
		}
	}
	for _, h := range hot {
		put(h.from, false)
		put(h.to, true)
	}
	put(len(s), false)
	if cut > 0 {
		out = append(out, part{fmt.Sprintf("… %s more", plain.Size(int64(cut))), false})
	}
	return out
}

// tabs are blanks up to the next stop. used is the cell at which the text begins, and then the one where it ends.
func tabs(s string, used *int) string {
	const stop = 4
	if !strings.Contains(s, "\t") {
		*used += ansi.StringWidth(s)
		return s
	}
	var b strings.Builder
	for i, cell := range strings.Split(s, "\t") {
		if i > 0 {
			n := stop - *used%stop
			b.WriteString(strings.Repeat(" ", n))
			*used += n
		}
		b.WriteString(cell)
		*used += ansi.StringWidth(cell)
	}
	return b.String()
}

// fold breaks a line where the room ends.
func (p *page) fold(parts []part, room int) [][]part {
	lines := [][]part{nil}
	used := 0
	for _, x := range parts {
		for text := x.text; text != ""; {
			n := 0 // bytes that are a cell each
			for n < len(text) && n < room-used && text[n] < 0x7f && (n+1 == len(text) || text[n+1] < 0x80) {
				n++
			}
			width := n
			c := text[:n]
			if n == 0 {
				c, width = ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
				if c == "" {
					break
				}
			}
			text = text[len(c):]
			if width > room {
				c, width = "…", 1
			}
			if used+width > room {
				lines, used = append(lines, nil), 0
			}
			last := len(lines) - 1
			lines[last] = append(lines[last], part{c, x.hot})
			used += width
		}
	}
	return lines
}

// write is a line with the look of what changed in it.
func write(parts []part, changed ansi.Style) string {
	var b strings.Builder
	for i := 0; i < len(parts); {
		hot := parts[i].hot
		var text strings.Builder
		for ; i < len(parts) && parts[i].hot == hot; i++ {
			text.WriteString(parts[i].text)
		}
		if hot && len(changed) > 0 {
			b.WriteString(changed.Styled(text.String()))
		} else {
			b.WriteString(text.String())
		}
	}
	return b.String()
}

func turns(parts []part) bool {
	for _, p := range parts {
		if plain.Turns(p.text) {
			return true
		}
	}
	return false
}
