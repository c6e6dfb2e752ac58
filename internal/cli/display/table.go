package display

import (
	"bufio"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/theme"
)

const (
	// MaxCell bounds a table's cell, in characters.
	MaxCell = 100
	// MinCell is the width, in cells of the terminal, below which a column is not cut to make a table fit.
	MinCell = 8
	// gap is what stands between two columns.
	gap = 2
)

// Table prints rows in aligned columns, the first row being their heads. Cells are made safe. The widest columns are
// cut until a row fits in so many cells, 0 being no limit; the first one never is, since it names what the row is about.
// look gives a cell's colour by the head of its column, and makes heads bold; nil: there are no colours.
func Table(to io.Writer, columns int, rows [][]string, look func(head, cell string) ansi.Style) error {
	widths := make([]int, len(rows[0]))
	clean := make([][]string, len(rows))
	for r, row := range rows {
		clean[r] = make([]string, len(row))
		for c, cell := range row {
			clean[r][c] = Shown(cell, MaxCell)
			widths[c] = max(widths[c], ansi.StringWidth(clean[r][c]))
		}
	}
	fit(widths, columns)
	right := figures(clean)
	out := bufio.NewWriter(to)
	for r, row := range clean {
		var line strings.Builder
		for c, whole := range row {
			cell := theme.Cut(whole, widths[c])
			pad := strings.Repeat(" ", max(0, widths[c]-ansi.StringWidth(cell)))
			if look != nil && r == 0 {
				cell = ansi.Style{}.Bold().Styled(cell)
			} else if look != nil {
				cell = look(clean[0][c], whole).Styled(cell)
			}
			if right[c] {
				cell, pad = pad+cell, ""
			}
			line.WriteString(cell + pad + strings.Repeat(" ", gap))
		}
		if _, err := out.WriteString(strings.TrimRight(line.String(), " ") + "\n"); err != nil {
			return err
		}
	}
	return out.Flush()
}

// fit cuts the widest columns, but not the first, until the row fits in so many cells; 0 is no limit. What is left at
// MinCell each stays too wide: the terminal wraps it.
func fit(widths []int, columns int) {
	if columns <= 0 {
		return
	}
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for total > columns {
		widest := 0
		for c := 1; c < len(widths); c++ {
			if widest == 0 || widths[c] >= widths[widest] {
				widest = c
			}
		}
		if widest == 0 || widths[widest] <= MinCell {
			return
		}
		widths[widest]--
		total--
	}
}

// enough is the width, in cells, up to which a wide column is better kept than a figure beside it.
const enough = 20

// Narrow leaves columns out, in the order in which they are named, until the others have room in so many cells; 0 is no
// limit.
func Narrow(rows [][]string, columns int, heads ...string) [][]string {
	for _, head := range heads {
		total := gap * (len(rows[0]) - 1)
		for c := range rows[0] {
			widest := 0
			for _, row := range rows {
				widest = max(widest, ansi.StringWidth(row[c]))
			}
			if c > 0 { // the first column is never cut
				widest = min(widest, enough)
			}
			total += widest
		}
		if columns <= 0 || total <= columns {
			return rows
		}
		if c := slices.Index(rows[0], head); c >= 0 {
			rows = WithoutColumn(rows, c)
		}
	}
	return rows
}

// figure is a number as tables show it: with groups, a sign, a unit of money or size, or unknown.
var figure = regexp.MustCompile(`^[-+<]?\$?[0-9][0-9,.]*( ?([KMGTPE]i)?B| ?%|s)?\+?$|^[-?]$|^$`)

// figures reports which columns hold nothing but figures; those are aligned at the right.
func figures(rows [][]string) []bool {
	right := make([]bool, len(rows[0]))
	for c := range right {
		right[c] = len(rows) > 1
		for _, row := range rows[1:] {
			right[c] = right[c] && figure.MatchString(row[c])
		}
	}
	return right
}

// WithoutColumn leaves a column out of all rows.
func WithoutColumn(rows [][]string, i int) [][]string {
	for r := range rows {
		rows[r] = slices.Delete(rows[r], i, i+1)
	}
	return rows
}
