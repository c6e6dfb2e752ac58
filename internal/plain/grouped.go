package plain

import (
	"strconv"
	"strings"
)

// Count is a number of things in words, by the word for one of them: 1 line, 1,234 lines, 2 directories.
func Count(n int64, thing string) string {
	stem, y := strings.CutSuffix(thing, "y")
	switch {
	case n == 1:
		return "1 " + thing
	case y:
		return Grouped(n) + " " + stem + "ies"
	case strings.HasSuffix(thing, "s"):
		return Grouped(n) + " " + thing + "es"
	}
	return Grouped(n) + " " + thing + "s"
}

// Grouped writes a number with its digits in groups of three.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
