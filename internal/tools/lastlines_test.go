package tools

import (
	"strings"
	"testing"
)

// Goal: the end of an output is told in whole lines and characters, within both bounds, without anything that acts on
// a terminal.
func TestLastLines(t *testing.T) {
	for _, c := range []struct {
		name, out   string
		lines, size int
		want        string
	}{
		{"all of a short one", "a\nb\n", 10, 100, "a\nb"},
		{"nothing", "", 10, 100, ""},
		{"only newlines", "\n\n\n", 10, 100, ""},
		{"the last lines", "a\nb\nc\nd\n", 2, 100, "c\nd"},
		{"an unfinished last line", "a\nb\nc", 2, 100, "b\nc"},
		{"as many as there are", "a\nb", 2, 100, "a\nb"},
		{"cut at a line", "first line\nsecond\nthird\n", 10, 14, "second\nthird"},
		{"a line that is too long", strings.Repeat("x", 50), 10, 5, "xxxxx"},
		{"cut at a character", strings.Repeat("é", 50), 10, 5, "éé"},
		{"progress and colours", "\x1b[31mred\x1b[0m\n10%\r20%\r30%\n", 10, 100, "red\n30%"},
		{"bytes that are no text", "a\xff\x00b\n", 10, 100, "a\uFFFDb"},
	} {
		if got := LastLines([]byte(c.out), c.lines, c.size); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
