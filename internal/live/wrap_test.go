package live

import (
	"strings"
	"testing"
)

// Goal: prose is broken at words, whatever the pieces in which it comes; code is left alone; no character is lost.
func TestWrap(t *testing.T) {
	text := "The quick brown fox jumps.\n  indented code stays on its line\n```\nfenced code stays on its line, too\n```\nand a-word-that-is-longer-than-the-line and 日本語日本語日本語 ends"
	want := "The quick brown fox \njumps.\n  indented code stays on its line\n```\nfenced code stays on its line, too\n```\nand a-word-that-is-longer-than-the-line \nand \n日本語日本語日本語 \nends"
	for _, size := range []int{1, 2, 3, 7, len(text)} {
		var w wrapper
		var got strings.Builder
		for rest := []rune(text); len(rest) > 0; {
			n := min(size, len(rest))
			got.WriteString(w.next(string(rest[:n]), 20))
			rest = rest[n:]
		}
		got.WriteString(w.rest(20))
		if got.String() != want {
			t.Errorf("pieces of %d:\n%q\nwant\n%q", size, got.String(), want)
		}
	}
}
