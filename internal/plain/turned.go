package plain

import (
	"fmt"
	"strings"
)

// Turned reports a letter or a digit that a terminal may write from right to left: Hebrew, Arabic and their kin. Around
// it, what stands in one order can be seen in another.
func Turned(r rune) bool {
	return r >= 0x590 && (r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfeff || r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff)
}

// Turns reports a text in which the order that is seen need not be the order that it has.
func Turns(s string) bool { return strings.ContainsFunc(s, Turned) }

// The marks around a text that turns: what is in it and what stands beside it do not move each other. It is the one that
// keeps left to right, so that one whose end is cut off turns nothing.
const isolate, isolated = "\u2066", "\u2069"

// Isolated keeps a text that turns from moving what stands beside it on its line. Other texts stay as they are.
func Isolated(s string) string {
	if !Turns(s) {
		return s
	}
	return isolate + s + isolated
}

// Ordered is a text with every letter that turns shown by its number, so that it is seen in the order that it has.
func Ordered(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case !Turned(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
