package taskpanel

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// styles are the few colours of the panel, out of the terminal's own sixteen, so that they fit a light one and a dark
// one. What they say is said in words too.
type styles struct {
	title, accent, quiet, good, bad, warn, odd, bold ansi.Style
}

func newStyles() styles {
	plain := ansi.Style{}
	return styles{
		title: plain.Bold(), accent: plain.ForegroundColor(ansi.Cyan), quiet: plain.Faint(),
		good: plain.ForegroundColor(ansi.Green), bad: plain.ForegroundColor(ansi.Red),
		warn: plain.ForegroundColor(ansi.Yellow), odd: plain.ForegroundColor(ansi.Magenta), bold: plain.Bold(),
	}
}

// fit cuts or fills text to exactly that many cells.
func fit(s string, width int) string {
	s = ansi.Truncate(s, width, "…")
	return s + strings.Repeat(" ", max(width-ansi.StringWidth(s), 0))
}

// fitRight is fit with the text on the right.
func fitRight(s string, width int) string {
	s = ansi.Truncate(s, width, "…")
	return strings.Repeat(" ", max(width-ansi.StringWidth(s), 0)) + s
}
