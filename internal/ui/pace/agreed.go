package pace

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// agreed has every character be as wide on the terminal as it was taken for. About a few kinds terminals disagree, by
// one cell or several, and whatever follows in the line would be moved: key caps (1️⃣), signs that are to be drawn as
// emoji (⚠️), flags, and emoji that are joined or have a tone. Of these the first sign is drawn, with a blank where it
// is narrower; of a flag its letters. A terminal that measures characters whole, as this module does, says so, and gets
// them as they are; but for key caps, of which whoever draws takes the digit alone.
func agreed(s string, whole bool) string {
	if !disputed(s) {
		return s
	}
	var out strings.Builder
	for s != "" {
		n := strings.IndexByte(s, '\x1b')
		switch {
		case n == 0:
			_, _, n, _ = ansi.DecodeSequence(s, ansi.NormalState, nil)
			n = max(n, 1)
			out.WriteString(s[:n])
		case n < 0:
			n = len(s)
			fallthrough
		default:
			clusters(&out, s[:n], whole)
		}
		s = s[n:]
	}
	return out.String()
}

// clusters writes a text without escape sequences.
func clusters(out *strings.Builder, s string, whole bool) {
	if !disputed(s) {
		out.WriteString(s)
		return
	}
	for s != "" {
		c, width := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		n := len(c)
		if n == 0 {
			break
		}
		if !whole || c[0] < utf8.RuneSelf {
			c = plainly(c, width)
		}
		out.WriteString(c)
		s = s[n:]
	}
}

// The parts of characters that terminals measure differently.
const (
	asEmoji   = '\ufe0f' // has the sign before it drawn as an emoji
	keyCap    = '\u20e3'
	joiner    = '\u200d'
	firstTone = '\U0001f3fb'
	lastTone  = '\U0001f3ff'
	flagA     = '\U0001f1e6' // letters of flags
	flagZ     = '\U0001f1ff'
)

// disputed reports whether there may be one. It errs on the side of one.
func disputed(s string) bool {
	return strings.Contains(s, "\ufe0f") || strings.Contains(s, "\u20e3") || strings.Contains(s, "\u200d") ||
		strings.Contains(s, "\U0001f3fb"[:3]) || strings.Contains(s, "\U0001f1e6"[:3])
}

// plainly is a character as all terminals measure it, in as many cells.
func plainly(c string, width int) string {
	first, n := utf8.DecodeRuneInString(c)
	base := c[:n]
	switch {
	case first >= flagA && first <= flagZ:
		base = ""
		for _, r := range c {
			if r >= flagA && r <= flagZ {
				base += string('A' + r - flagA)
			}
		}
	case n == len(c) || !isSign(first) || !strings.ContainsFunc(c[n:], changes):
		return c
	}
	if wide := ansi.StringWidth(base); wide <= width {
		return base + strings.Repeat(" ", width-wide)
	}
	return c
}

// isSign reports what emoji begin with: digits and signs of key caps, and symbols. Letters of scripts that join are none.
func isSign(r rune) bool {
	return r >= '0' && r <= '9' || r == '#' || r == '*' || r == '\u00a9' || r == '\u00ae' || r >= 0x2000 && r < 0x3300 || r >= 0x1f000
}

func changes(r rune) bool {
	return r == asEmoji || r == keyCap || r == joiner || r >= firstTone && r <= lastTone || r >= 0xe0020 && r <= 0xe007f
}
