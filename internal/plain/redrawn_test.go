package plain_test

import (
	"testing"

	"github.com/perdure/perdure/internal/plain"
)

// A progress bar is its last state, and not all of them in one line, as with the output of git push.
func TestRedrawn(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a\nb": "a\nb", "10%\r20%\r100%\ndone\n": "100%\ndone\n", "a\r\nb\r\n": "a\nb\n", "x\r": "x", "\r\r\n": "\n", "1\r2": "2",
	} {
		if got := plain.Redrawn(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// No word of a person is lost to a carriage return.
func TestLineEnds(t *testing.T) {
	for in, want := range map[string]string{"": "", "a\rb": "a\nb", "a\r\nb\n": "a\nb\n", "a\r\r\nb": "a\n\nb"} {
		if got := plain.LineEnds(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
