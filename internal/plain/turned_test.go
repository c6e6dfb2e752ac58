package plain

import (
	"strings"
	"testing"
)

// A text with letters that are written from right to left moves nothing beside it, also when its end is cut off, and
// can be shown in the order that it has. Other texts stay as they are.
func TestTextsThatTurn(t *testing.T) {
	for _, s := range []string{"שלום", "rm -rf א ב", "مرحبا 1", "a ٣ b", "\U0001e900", "ﬡ", "ﺍ"} {
		if !Turns(s) || Isolated(s) != "\u2066"+s+"\u2069" || Turns(Ordered(s)) {
			t.Errorf("%q: %t %q %q", s, Turns(s), Isolated(s), Ordered(s))
		}
		for _, got := range []string{Shown(s, 40), Line(s, 40), Shown(strings.Repeat(s+" ", 30), 20), Line(strings.Repeat(s+" ", 30), 20)} {
			if !strings.HasPrefix(got, "\u2066") || !strings.HasSuffix(got, "\u2069") {
				t.Errorf("on a line: %q", got)
			}
		}
	}
	for _, s := range []string{"", "plain", "größe 日本語 🎉", "ไทย हिन्दी", "x"} {
		if Turns(s) || Isolated(s) != s || Ordered(s) != s || Shown(s, 40) != s {
			t.Errorf("%q: %t %q %q", s, Turns(s), Isolated(s), Shown(s, 40))
		}
	}
	if got := Ordered("cp א1 ב"); got != `cp \u05d01 \u05d1` {
		t.Errorf("%q", got)
	}
}
