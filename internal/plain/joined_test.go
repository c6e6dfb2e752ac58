package plain

import "testing"

// Goal: what joins characters stays where characters are joined, and hides nowhere else; escape sequences go as ever.
func TestJoined(t *testing.T) {
	for in, want := range map[string]string{
		"👩‍👩‍👧‍👦": "👩‍👩‍👧‍👦", "❤\ufe0f\u200d🔥": "❤\ufe0f\u200d🔥", "می\u200cخواهم": "می\u200cخواهم", "👩🏽\u200d🚀 x": "👩🏽\u200d🚀 x",
		"a\u200db": "ab", "\u200d🔥": "🔥", "🔥\u200d": "🔥", "🔥\u200d\u200d🔥": "🔥🔥", "🔥\u200d a": "🔥 a", "é\u200d\x1b[31mé": "é\u200dé",
		"a\x1b]0;é\u200dé\ab": "ab", "plain\ttext\n": "plain\ttext\n",
	} {
		if got := Joined(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
