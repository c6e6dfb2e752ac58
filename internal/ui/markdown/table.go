package markdown

import (
	"slices"
	"strings"
)

// Bounds of a table. Its first rows say how wide the columns are, also for the rows that follow.
const (
	maxColumns = 40
	maxRows    = 64
	maxGrid    = 4 << 10 // bytes of the rows that are looked at
)

// grid is a table as far as it was read.
type grid struct {
	align []byte // l r c
	head  []cell
	rows  [][]cell
	bytes int
	fixed []int // the widths of the columns, once they are
	begun bool  // a part of the paragraph before it was drawn
	asIs  bool  // they are fixed, and there is no room for columns: each row is a list
}

// cell is what stands in one place of a table.
type cell struct {
	spans []span
	width int
}

// openTable begins a table if a line below one line of a paragraph divides a head from rows.
func (m *machine) openTable(t string) bool {
	if strings.Trim(t, "|-: ") != "" || !strings.Contains(t, "-") || !strings.Contains(t, "|") {
		return false
	}
	before, head := "", m.leaf.text
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		before, head = head[:i], head[i+1:]
	}
	names, marks := split(head), split(t)
	if len(names) != len(marks) || len(names) > maxColumns || !strings.Contains(head, "|") {
		return false
	}
	g := grid{align: make([]byte, len(marks))}
	for i, mark := range marks {
		if strings.Trim(strings.TrimSuffix(strings.TrimPrefix(mark, ":"), ":"), "-") != "" || !strings.Contains(mark, "-") {
			return false
		}
		left, right := strings.HasPrefix(mark, ":"), strings.HasSuffix(mark, ":")
		g.align[i] = 'l'
		if left && right {
			g.align[i] = 'c'
		} else if right {
			g.align[i] = 'r'
		}
	}
	g.begun = m.leaf.begun || before != ""
	if m.leaf.text = before; before == "" {
		m.leaf = leaf{}
	}
	m.shut()
	g.head = m.r.cells(names, len(names))
	m.leaf = leaf{kind: table, grid: g}
	return true
}

// split parts a row at its bars.
func split(t string) []string {
	t = strings.TrimPrefix(strings.TrimSpace(t), "|")
	var parts []string
	var b strings.Builder
	for i := 0; i < len(t); i++ {
		switch {
		case t[i] == '\\' && i+1 < len(t) && t[i+1] == '|':
			b.WriteByte('|')
			i++
		case t[i] == '|':
			parts = append(parts, strings.TrimSpace(b.String()))
			b.Reset()
			if i == len(t)-1 {
				return parts
			}
		default:
			b.WriteByte(t[i])
		}
	}
	return append(parts, strings.TrimSpace(b.String()))
}

// cells reads so many texts; what is missing is empty, what is too much goes into the last one.
func (r *Renderer) cells(texts []string, n int) []cell {
	if len(texts) > n {
		texts = append(slices.Clone(texts[:n-1]), strings.Join(texts[n-1:], " | "))
	}
	out := make([]cell, n)
	for i, text := range texts {
		out[i].spans = r.spans(text)
		most, used := 0, 0
		for _, s := range out[i].spans {
			if s.end {
				used = 0
			}
			used += cells(s.text)
			most = max(most, used)
		}
		out[i].width = most
	}
	return out
}

// row takes a row. Once there are many, the widths are fixed and rows are drawn as they come.
func (m *machine) row(t string) {
	g := &m.leaf.grid
	row := m.r.cells(split(t), len(g.head))
	if g.fixed == nil && !g.asIs && (len(g.rows) >= maxRows || g.bytes > maxGrid) {
		m.drawTable(g)
	}
	if g.fixed != nil || g.asIs {
		m.draw(m.rowLines(g, row, 0), false)
		return
	}
	g.rows = append(g.rows, row)
	g.bytes += len(t)
}

// drawTable fixes the widths of a table and lets go of what was read of it.
func (m *machine) drawTable(g *grid) {
	if g.fixed != nil || g.asIs {
		return
	}
	m.fix(g)
	var lines []string
	if !g.asIs {
		lines = m.rowLines(g, g.head, title)
		var rule strings.Builder
		for i, w := range g.fixed {
			if i > 0 {
				rule.WriteString("─┼─")
			}
			rule.WriteString(strings.Repeat("─", w))
		}
		lines = append(lines, m.r.styled(rule.String(), quiet))
	} else if len(g.rows) == 0 {
		for _, c := range g.head {
			lines = append(lines, m.r.wrap(c.spans, m.room(), title)...)
		}
	}
	for _, row := range g.rows {
		lines = append(lines, m.rowLines(g, row, 0)...)
	}
	g.rows = nil
	m.draw(lines, !g.begun)
}

// fix finds widths that fit: no column is narrower than another that would need less.
func (m *machine) fix(g *grid) {
	const between, fewest = 3, 5
	widths := make([]int, len(g.head))
	need := 0
	for i := range widths {
		widths[i] = max(g.head[i].width, 1)
		for _, row := range g.rows {
			widths[i] = max(widths[i], row[i].width)
		}
		need += widths[i]
	}
	room := m.room() - between*(len(widths)-1)
	if need <= room {
		g.fixed = widths
		return
	}
	sorted := slices.Clone(widths)
	slices.Sort(sorted)
	left := room
	for i, w := range sorted {
		if share := left / (len(sorted) - i); w > share {
			if share < fewest {
				g.asIs = true
				return
			}
			for j := range widths {
				widths[j] = min(widths[j], share)
			}
			break
		}
		left -= w
	}
	g.fixed = widths
}

// rowLines draws a row in columns, or as a list if there is no room for columns.
func (m *machine) rowLines(g *grid, row []cell, base attr) []string {
	if g.asIs {
		return m.rowList(g, row)
	}
	parts := make([][]string, len(row))
	height := 1
	for i, c := range row {
		parts[i] = m.r.wrap(c.spans, g.fixed[i], base)
		height = max(height, len(parts[i]))
	}
	bar := " " + m.r.styled("│", quiet) + " "
	lines := make([]string, height)
	for n := range lines {
		var b strings.Builder
		for i := range row {
			if i > 0 {
				b.WriteString(bar)
			}
			text, fill := "", g.fixed[i]
			if n < len(parts[i]) {
				text = parts[i][n]
				fill -= wide(text, row[i].width, len(parts[i]))
			}
			before := map[byte]int{'r': fill, 'c': fill / 2}[g.align[i]]
			b.WriteString(strings.Repeat(" ", before) + text)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", fill-before))
			}
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}
