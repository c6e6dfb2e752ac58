package diffview

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/perdure/perdure/internal/ui/markdown"
	"github.com/perdure/perdure/internal/ui/theme"
)

// palettes are common themes of terminals: the background, the colour of words, and the colours 1 to 6.
var palettes = map[string][8]uint32{
	"xterm, light":       {0xffffff, 0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd},
	"xterm, dark":        {0x000000, 0xe5e5e5, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd},
	"VS Code, light":     {0xffffff, 0x333333, 0xcd3131, 0x107c10, 0x949800, 0x0451a5, 0xbc05bc, 0x0598bc},
	"VS Code, dark":      {0x1e1e1e, 0xcccccc, 0xcd3131, 0x0dbc79, 0xe5e510, 0x2472c8, 0xbc3fbc, 0x11a8cd},
	"GNOME, light":       {0xffffff, 0x1e1e1e, 0xc01c28, 0x26a269, 0xa2734c, 0x12488b, 0xa347ba, 0x2aa1b3},
	"GNOME, dark":        {0x1e1e1e, 0xffffff, 0xc01c28, 0x26a269, 0xa2734c, 0x12488b, 0xa347ba, 0x2aa1b3},
	"Terminal.app, pro":  {0x000000, 0xf2f2f2, 0x990000, 0x00a600, 0x999900, 0x2009db, 0xb200b2, 0x00a6b2},
	"Terminal.app":       {0xffffff, 0x000000, 0x990000, 0x00a600, 0x999900, 0x0000b2, 0xb200b2, 0x00a6b2},
	"Campbell":           {0x0c0c0c, 0xcccccc, 0xc50f1f, 0x13a10e, 0xc19c00, 0x0037da, 0x881798, 0x3a96dd},
	"One Half, light":    {0xfafafa, 0x383a42, 0xe45649, 0x50a14f, 0xc18401, 0x0184bc, 0xa626a4, 0x0997b3},
	"One Half, dark":     {0x282c34, 0xdcdfe4, 0xe06c75, 0x98c379, 0xe5c07b, 0x61afef, 0xc678dd, 0x56b6c2},
	"Gruvbox, light":     {0xfbf1c7, 0x3c3836, 0xcc241d, 0x98971a, 0xd79921, 0x458588, 0xb16286, 0x689d6a},
	"Solarized, dark":    {0x002b36, 0x839496, 0xdc322f, 0x859900, 0xb58900, 0x268bd2, 0xd33682, 0x2aa198},
	"Tango, light":       {0xffffff, 0x2e3436, 0xcc0000, 0x4e9a06, 0xc4a000, 0x3465a4, 0x75507b, 0x06989a},
	"Dracula":            {0x282a36, 0xf8f8f2, 0xff5555, 0x50fa7b, 0xf1fa8c, 0xbd93f9, 0xff79c6, 0x8be9fd},
	"Linux, the console": {0x000000, 0xaaaaaa, 0xaa0000, 0x00aa00, 0xaa5500, 0x0000aa, 0xaa00aa, 0x00aaaa},
}

// contrast is that of two colours by the Web Content Accessibility Guidelines.
func contrast(a, b uint32) float64 {
	light := func(c uint32) float64 {
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			v := float64(c>>(16-8*i)&255) / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			sum += weight * v
		}
		return sum
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// coloured gives the words that are written in a colour, by its number; those that are faint are aside.
func coloured(line string) map[int]string {
	out := map[int]string{}
	colour := 0
	for i, part := range strings.Split(line, "\x1b[") {
		if i > 0 {
			codes, rest, _ := strings.Cut(part, "m")
			for _, code := range strings.Split(codes, ";") {
				switch n, _ := strconv.Atoi(code); {
				case n == 0, n == 39:
					colour = 0
				case n >= 31 && n <= 36:
					colour = n - 30
				}
			}
			part = rest
		}
		out[colour] += part
	}
	return out
}

// Goal: the words of a diff can be read on light and on dark backgrounds: every letter and digit has a contrast of 4.5
// on each of the common palettes, wherever a diff is shown. None of the sixteen colours has that on all of them.
func TestDiffsAreReadableOnEveryBackground(t *testing.T) {
	for n := 2; n < 8; n++ {
		least := 21.0
		for _, p := range palettes {
			least = min(least, contrast(p[0], p[n]))
		}
		if least >= 4.5 {
			t.Errorf("colour %d has %.1f everywhere: it could be used", n-1, least)
		}
	}
	st := theme.Colours()
	const before, after = "func one() int {\n\treturn old\n}\n", "func one() int {\n\treturn new\n}\n\nfunc two() {}\n"
	lines := New(st).Lines(before, after, "a.go", 60)
	lines = append(lines, markdown.New(st).Lines("```diff\n-gone words\n+new words\n```\n", 60)...)
	lines = append(lines, theme.Signed(st.Added, "+asked words"), theme.Signed(st.Removed, "-asked words"), st.Counts("12", "3"))
	signs := 0
	for _, l := range lines {
		for colour, words := range coloured(l) {
			if colour > 0 && strings.ContainsAny(words, "+-") {
				signs++
			}
			for theme, p := range palettes {
				words := strings.IndexFunc(words, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) >= 0
				if c := contrast(p[0], p[min(colour, 6)+1]); colour > 0 && words && c < 4.5 {
					t.Errorf("%s: %.1f in %q", theme, c, l)
				}
			}
		}
	}
	if signs < 9 {
		t.Errorf("%d signs have a colour", signs)
	}
}

// Goal: code can be read on light and on dark backgrounds, in sentences and in blocks of any language, and so can
// links, commands and rules: elsewhere they are cyan, green or grey on white. None of their letters is in a colour, or
// faint.
func TestCodeIsReadableOnEveryBackground(t *testing.T) {
	st := theme.Colours()
	lines := []string{st.Code.Styled("go test ./...")}
	for _, text := range []string{
		"Run `make test`, then see [the page](https://a.example/b) and **`bold`** <https://c.example>.\n\n# The `title`\n\n- `item`\n\n| `a` | b |\n|---|---|\n| c | `d` |\n",
		"```go\n// note\nfunc main() { x := \"text\" + `more` + 'r' + 0x12 }\n/* long\nnote */\n```\n",
		"```python\n# note\ndef f():\n    return \"text\", 12\n```\n",
		"```diff\ndiff --git a/x b/x\n@@ -1,2 +1,2 @@ func\n-gone\n+new\n```\n",
		"    indented code\n\n```\nno language 12\n```\n",
	} {
		lines = append(lines, markdown.New(st).Lines(text, 60)...)
	}
	for _, l := range lines {
		for colour, words := range coloured(l) {
			if strings.IndexFunc(words, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0 || colour == 0 {
				continue
			}
			for theme, p := range palettes {
				if c := contrast(p[0], p[min(colour, 6)+1]); c < 4.5 {
					t.Errorf("%s: %.1f of %q in %q", theme, c, words, l)
				}
			}
		}
		if !strings.HasPrefix(l, "  ") { // what parts cells and names an address may be faint
			continue
		}
		if strings.Contains(l, "\x1b[2m") || strings.Contains(l, ";2m") || strings.Contains(l, "\x1b[2;") {
			t.Errorf("faint: %q", l)
		}
	}
}
