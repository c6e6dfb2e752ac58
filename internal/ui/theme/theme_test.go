package theme_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/theme"
)

// Whatever the text, a line has exactly the cells that it was given, wide characters and colours included.
func TestFit(t *testing.T) {
	red := theme.Colours().Bad
	for _, s := range []string{"", "abc", "日本語テキスト", "👩‍👩‍👧‍👦 family", red.Styled("a long red text"), "e\u0301te\u0301", "👧1\ufe0f\u20e3日#\ufe0f\u20e3日", "🇩🇪🇯🇵🇩", "👍🏽👩🏿\u200d🚀x", "❤\ufe0f日"} {
		for width := range 12 {
			for name, got := range map[string]string{"Fit": theme.Fit(s, width), "FitRight": theme.FitRight(s, width), "End": theme.Fit(theme.End(s, width), width)} {
				if end := theme.End(s, width); ansi.StringWidth(end) > width {
					t.Errorf("End(%q, %d): %q", s, width, end)
				}
				if n := ansi.StringWidth(got); n != width {
					t.Errorf("%s(%q, %d) has %d cells: %q", name, s, width, n, got)
				}
			}
		}
	}
}

func TestBlock(t *testing.T) {
	got := theme.Block([]string{"one", "a line that is long", "three"}, 6, 2)
	if want := "one   |a lin…"; strings.Join(got, "|") != want {
		t.Errorf("%q", got)
	}
	if got := theme.Block(nil, 2, 2); strings.Join(got, "|") != "  |  " {
		t.Errorf("%q", got)
	}
}

// A narrow line of help drops whole keys, the last ones first.
func TestKeys(t *testing.T) {
	keys := []theme.Key{{"↑↓", "select"}, {"x", "end"}, {"?", "help"}}
	for width, want := range map[int]string{80: " ↑↓ select  x end  ? help", 20: " ↑↓ select  x end", 5: ""} {
		if got := theme.Plain().Keys(keys, width); got != want {
			t.Errorf("%d cells: %q", width, got)
		}
	}
}

// However a text is wrapped, no line is wider than it may be, no character is lost, and none that is joined is parted.
func TestWrapKeepsCharactersWhole(t *testing.T) {
	const text = "a 👧1\ufe0f\u20e3日#\ufe0f\u20e3 words e\u0301te\u0301 🇩🇪🇯🇵 👍🏽👩🏿\u200d🚀x ❤\ufe0f日本語 1\ufe0f\u20e32\ufe0f\u20e33\ufe0f\u20e3"
	for width := 2; width < 50; width++ {
		for name, lines := range map[string][]string{"Wrap": theme.Wrap(text, width), "Break": theme.Break(text, width)} {
			for _, l := range lines {
				if n := ansi.StringWidth(l); n > width {
					t.Errorf("%s(%d): %d cells: %q", name, width, n, l)
				}
			}
			all := strings.Join(lines, "")
			if got, want := strings.ReplaceAll(all, " ", ""), strings.ReplaceAll(text, " ", ""); got != want {
				t.Errorf("%s(%d): %q", name, width, got)
			}
			for _, whole := range []string{"1\ufe0f\u20e3", "🇩🇪", "👍🏽", "👩🏿\u200d🚀"} {
				if !strings.Contains(strings.Join(lines, "\n"), whole) {
					t.Errorf("%s(%d) parts %q", name, width, whole)
				}
			}
		}
	}
}

// Every colour is one that light and dark backgrounds leave readable: none of the bright ones, neither white nor black, and
// no background of its own but by turning both around.
func TestColoursFitLightAndDark(t *testing.T) {
	styles := reflect.ValueOf(theme.Colours())
	for i := range styles.NumField() {
		name, style := styles.Type().Field(i).Name, styles.Field(i).Interface().(ansi.Style)
		if len(style) == 0 {
			t.Errorf("%s looks like any text", name)
		}
		for _, code := range style {
			if !slices.Contains([]string{"1", "2", "3", "4", "7", "9", "31", "32", "33", "34", "35", "36"}, code) {
				t.Errorf("%s has %s", name, code)
			}
		}
	}
}

// The colours that are pale on white or dim on black, by the contrast of a plain terminal's palette, are those of signs
// and single words. A sentence that is not to be overlooked is in the terminal's own colour.
func TestSentencesAreReadableOnLightAndDark(t *testing.T) {
	palette := map[string][3]float64{"31": {205, 0, 0}, "32": {0, 205, 0}, "33": {205, 205, 0}, "34": {0, 0, 238}, "35": {205, 0, 205}, "36": {0, 205, 205}}
	light := func(c [3]float64) float64 {
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v := c[i] / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			sum += weight * v
		}
		return sum
	}
	pale := map[string]bool{}
	for code, c := range palette {
		onWhite, onBlack := 1.05/(light(c)+0.05), (light(c)+0.05)/0.05
		pale[code] = onWhite < 3 || onBlack < 3
	}
	if !pale["33"] || !pale["36"] || pale["31"] {
		t.Errorf("pale: %v", pale)
	}
	st := theme.Colours()
	for name, text := range map[string]string{"alert": st.Alert("‖ ", "the session is paused", 80), "bad": st.Bad.Styled("it failed for a reason")} {
		for code := range palette {
			_, words, found := strings.Cut(text, "\x1b["+code+"m")
			words, _, _ = strings.Cut(words, "\x1b")
			if found && pale[code] && strings.Contains(strings.TrimSpace(words), " ") {
				t.Errorf("%s: %q is said in colour %s", name, words, code)
			}
		}
	}
	if got := ansi.Strip(st.Alert("‖ ", "a long sentence", 8)); ansi.StringWidth(got) > 8 || !strings.HasPrefix(got, "‖ a ") {
		t.Errorf("%q", got)
	}
}
