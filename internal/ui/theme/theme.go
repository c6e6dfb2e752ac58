// Package theme is how everything of Perdure looks on a terminal: a few colours by what they mean, and lines that fit.
//
// The colours are the terminal's own sixteen, so that they fit a light one and a dark one. Whoever draws a screen sends
// them through bubbletea, which leaves them out for NO_COLOR and terminals that have none; whoever prints lines asks for
// [Plain] there. What a colour says is said in words or by a sign too.
package theme

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Styles are the colours by what they mean. The zero value of each draws nothing but the text.
type Styles struct {
	Title, Bold, Italic, Under, Struck ansi.Style // ways of writing
	Accent                             ansi.Style // keys, what is selected
	Quiet                              ansi.Style // what is there and not important now
	Good, Bad, Warn, Odd               ansi.Style // signs and single words: yellow and cyan are pale on white
	Added, Removed                     ansi.Style // signs of a diff, as blocks; its words have the terminal's own colour
	Changed                            ansi.Style // what differs within a line
	Code                               ansi.Style // and commands; they have the terminal's own colour, since they are to be read
	Person                             ansi.Style // the words of a human
	Selected                           ansi.Style // a row that keys act on
}

// Colours are the styles of a terminal.
func Colours() Styles {
	none := ansi.Style{}
	return Styles{
		Title: none.Bold(), Bold: none.Bold(), Italic: none.Italic(true), Under: none.Underline(true), Struck: none.Strikethrough(true),
		Accent: none.ForegroundColor(ansi.Cyan), Quiet: none.Faint(),
		Good: none.ForegroundColor(ansi.Green), Bad: none.ForegroundColor(ansi.Red),
		Warn: none.ForegroundColor(ansi.Yellow), Odd: none.ForegroundColor(ansi.Magenta),
		Added: none.ForegroundColor(ansi.Green).Reverse(true), Removed: none.ForegroundColor(ansi.Red).Reverse(true), Changed: none.Bold().Underline(true),
		Code: none.Bold(), Person: none.Bold(), Selected: none.Reverse(true),
	}
}

// Plain are no styles at all.
func Plain() Styles { return Styles{} }

// Signed is a line of a diff that begins with its sign, + or -. None of the sixteen colours is readable on all of the
// common backgrounds: the sign is a block of its colour, the words have the terminal's own.
func Signed(sign ansi.Style, line string) string {
	if line == "" || line[0] != '+' && line[0] != '-' || len(sign) == 0 {
		return line
	}
	return sign.Styled(line[:1]) + line[1:]
}

// Counts are how many lines a change adds and removes.
func (s Styles) Counts(added, removed string) string {
	return s.Good.Styled("+") + added + " " + s.Bad.Styled("-") + removed
}

// Fit cuts or fills text to exactly that many cells. Colours in it end where they ended.
func Fit(s string, width int) string {
	s = Cut(s, width)
	return s + strings.Repeat(" ", max(width-ansi.StringWidth(s), 0))
}

// FitRight is Fit with the text on the right.
func FitRight(s string, width int) string {
	s = Cut(s, width)
	return strings.Repeat(" ", max(width-ansi.StringWidth(s), 0)) + s
}

// Cut cuts text to at most that many cells.
func Cut(s string, width int) string { return CutTo(s, width, "…") }

// CutTo is Cut with what is to stand at the end of a text that is cut.
func CutTo(s string, width int, end string) string {
	width = max(width, 0)
	if ansi.StringWidth(s) <= width {
		return s
	}
	// A plain character that is joined to what follows it, such as a digit in a key cap, is taken for one cell by
	// Truncate, and for two by all who measure.
	cut := ansi.Truncate(s, width, end)
	for n := width - 1; n >= 0 && ansi.StringWidth(cut) > width; n-- {
		cut = ansi.Truncate(s, n, end)
	}
	return cut
}

// Alert is a sentence that is not to be overlooked: its sign has the colour, its words have the terminal's own, so that
// a light background and a dark one leave them readable.
func (s Styles) Alert(sign, text string, width int) string {
	return Cut(s.Warn.Styled(sign)+s.Bold.Styled(text), width)
}

// End is the end of a text, at most that many cells of it: of a path, and of what is being typed, it says more than the
// beginning.
func End(s string, width int) string {
	over := ansi.StringWidth(s) - width
	if over <= 0 {
		return s
	}
	for {
		end := ansi.TruncateLeft(s, over+1, "…") // which keeps a wide character that it cuts through
		if ansi.StringWidth(end) <= width {
			return end
		}
		over++
	}
}

// Wrap breaks plain text between words into lines of at most that many cells; it breaks a word that is wider.
func Wrap(s string, width int) []string {
	width = max(width, 1)
	return narrowed(ansi.Wrap(s, width, ""), width)
}

// Break breaks plain text anywhere into lines of at most that many cells.
func Break(s string, width int) []string {
	width = max(width, 1)
	return narrowed(ansi.Hardwrap(s, width, true), width)
}

// narrowed are lines of which those are broken again that are wider: Wrap and Hardwrap count as Truncate does (see Cut).
func narrowed(s string, width int) []string {
	lines := strings.Split(s, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if len(line) <= width || ansi.StringWidth(line) <= width {
			continue
		}
		at, used := 0, 0
		for at < len(line) {
			cluster, cells := ansi.FirstGraphemeCluster(line[at:], ansi.GraphemeWidth)
			if used+cells > width && at > 0 {
				break
			}
			at, used = at+len(cluster), used+cells
		}
		if at < len(line) {
			lines[i] = line[:at]
			lines = slices.Insert(lines, i+1, line[at:])
		}
	}
	return lines
}

// Block makes exactly height lines of exactly width cells: what is too much is cut off, what is missing is blank.
func Block(lines []string, width, height int) []string {
	out := make([]string, max(height, 0))
	for i := range out {
		text := ""
		if i < len(lines) {
			text = lines[i]
		}
		out[i] = Fit(text, width)
	}
	return out
}

// Key is something that can be pressed, for a line of help.
type Key struct{ Press, Does string }

// Keys is as much of the keys as has room in a line, the first ones first.
func (s Styles) Keys(keys []Key, width int) string {
	var line strings.Builder
	used := 0
	for i, k := range keys {
		gap := 2
		if i == 0 {
			gap = 1
		}
		n := gap + ansi.StringWidth(k.Press) + 1 + ansi.StringWidth(k.Does)
		if used+n > width {
			break
		}
		used += n
		line.WriteString(strings.Repeat(" ", gap) + s.Accent.Styled(k.Press) + " " + s.Quiet.Styled(k.Does))
	}
	return line.String()
}
