package display

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	safe "github.com/perdure/perdure/internal/plain"
)

// Safe makes text that a model, a command or a person wrote safe for a terminal.
func Safe(s string) string { return safe.Text(s) }

// Visible shows what does not show by itself as its number, and leaves nothing out.
func Visible(s string) string { return safe.Visible(s) }

// Line shows text on one line of at most n characters.
func Line(s string, n int) string { return safe.Line(s, n) }

// Shown is Line of what a person judges or relies on: what does not show by itself shows as its number.
func Shown(s string, n int) string { return safe.Shown(s, n) }

// Money shows a cost in US dollars; nil is unknown.
func Money(usd *float64) string {
	if usd == nil {
		return "?"
	}
	return fmt.Sprintf("$%.4f", *usd)
}

// Bytes shows a number of bytes.
func Bytes(n int64) string { return safe.Size(n) }

// Grouped is a number with its thousands apart.
func Grouped(n int64) string { return safe.Grouped(n) }

// Count writes a number of things: 1 turn, 2 turns.
func Count(n int64, thing string) string {
	return safe.Count(n, thing)
}

// Quote makes a word that a shell reads as itself.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || slices.Contains([]rune("/._-@:+,="), r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// FirstLine is the first line of a text, with a mark where more follow.
func FirstLine(s string) string {
	line, rest, cut := strings.Cut(s, "\n")
	if cut && rest != "" {
		return line + " …"
	}
	return line
}

// Nearest are at most three of the candidates, those that look most like name first.
func Nearest(name string, candidates []string) []string {
	near := slices.Clone(candidates)
	slices.SortStableFunc(near, func(x, y string) int { return cmp.Compare(safe.Distance(name, x), safe.Distance(name, y)) })
	return near[:min(3, len(near))]
}
