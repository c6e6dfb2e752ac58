package theme_test

import (
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
