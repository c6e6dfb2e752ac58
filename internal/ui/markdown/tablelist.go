package markdown

import "github.com/charmbracelet/x/ansi"

// wide is how wide a line of a cell is, which is known if there is only one.
func wide(text string, known, lines int) int {
	if lines == 1 && known > 0 && len(text) == known {
		return known
	}
	return ansi.StringWidth(text)
}

// rowList draws a row of a table for which there is no room: each of its cells with the name of the column.
func (m *machine) rowList(g *grid, row []cell) []string {
	var lines []string
	room := m.room()
	for i, c := range row {
		if len(c.spans) == 0 || c.width == 0 {
			continue
		}
		var spans []span
		for _, s := range g.head[i].spans {
			s.attr |= title
			spans = append(spans, s)
		}
		if g.head[i].width > 0 {
			spans = append(spans, span{text: ": "})
		}
		margin := "  "
		if len(lines) == 0 {
			margin = "• "
		}
		if room <= least {
			margin = ""
		}
		for n, l := range m.r.wrap(append(spans, c.spans...), room-len([]rune(margin)), 0) {
			if n > 0 && margin != "" {
				margin = "  "
			}
			lines = append(lines, margin+l)
		}
	}
	return lines
}
