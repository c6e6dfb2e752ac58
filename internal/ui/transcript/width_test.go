package transcript

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/plain"
)

// clusters are what a person takes for one character each, of one cell or of two.
var clusters = []string{
	"a", "bc ", " ", "日", "e\u0301", "👩\u200d👩\u200d👧", "🇩🇪", "🇯", "👍🏽", "👩🏿\u200d🚀", "❤\ufe0f", "1\ufe0f\u20e3", "#\ufe0f\u20e3", "각", "न\u093f", "\t", "\u0301",
}

// Goal: whatever joined characters a text is made of, no line of it is wider than the screen at any width, and no character
// is lost from what is wrapped.
func TestJoinedCharactersKeepTheirWidth(t *testing.T) {
	for seed := range uint64(120) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		var text strings.Builder
		for range rnd.IntN(40) + 1 {
			text.WriteString(clusters[rnd.IntN(len(clusters))])
		}
		for width := 2; width < 40; width++ {
			for name, wrap := range map[string]func(string) []string{"words": words(width), "hard": hard(width)} {
				lines := wrap(text.String())
				for _, l := range lines {
					if n := ansi.StringWidth(l); n > width {
						t.Fatalf("seed %d, %s: %d cells of %d: %q of %q", seed, name, n, width, l, text.String())
					}
				}
				if got, want := squeezed(strings.Join(lines, "")), squeezed(plain.Joined(text.String())); got != want {
					t.Fatalf("seed %d, %s at %d: %q, want %q", seed, name, width, got, want)
				}
			}
		}
		m := newModel(20, 6)
		for i, kind := range []Kind{Person, Text, Thinking, Note} {
			m.Put(Item{ID: fmt.Sprint(i), Kind: kind, Text: text.String()})
		}
		m.Put(Item{ID: "call", Kind: Tool, Call: Call{Act: "a", Name: "Bash", About: text.String(), State: Done, Output: text.String()}})
		for width := 2; width < 60; width++ {
			m.SetSize(width, 12)
			for _, l := range m.Visible() {
				if n := ansi.StringWidth(l); n > width {
					t.Fatalf("seed %d: %d cells of %d: %q", seed, n, width, l)
				}
			}
		}
	}
}

// squeezed is a text without blanks.
func squeezed(s string) string { return strings.Join(strings.Fields(s), "") }
