package markdown

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/ui/theme"
)

// pieces are what documents are made of at random: beginnings of everything, and what is hard to show.
var pieces = []string{
	"# ", "## ", "- ", "* ", "+ ", "1. ", "7) ", "10. ", "> ", ">", "  ", "    ", "\t", "\n", "\n", "\n", "\n\n", "\n\n", "```", "```go\n", "~~~\n", "```\n", "---\n", "***\n", "===\n",
	"| a | b |\n|---|:-:|\n", "| c | d |\n", "|", "\n|-|-|\n", "- [ ] ", "- [x] ", "*", "**", "_", "__", "~~", "`", "``", "[", "](", ")", "![", "](http://x.y)", "<", ">", "<div>\n", "<br>", "&amp;", "&#27;", "&#10;",
	"\\", "word", "two words ", "日本語", "👩‍👩‍👧", "e\u0301", "\x1b", "\x1b[31m", "\x1b]0;t", "\a", "\r", "\x9b", "\xff", "\u202e", "\u200d", "http://a.b/c ", "[ref]: http://z\n",
	"func x() { // c\n", "/* open\n", "*/", "\"str", "'", strings.Repeat("long ", 40), strings.Repeat("w", 150), strings.Repeat("日本", 60),
}

func document(t *rapid.T) string {
	s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "document"), "")
	if rapid.IntRange(0, 9).Draw(t, "long") == 0 { // one that reaches a bound
		s += strings.Repeat(rapid.SampledFrom([]string{"word ", "x", "| a | b |\n", "text\n", "- item\n", "日", "*a_ ", "\xff"}).Draw(t, "what"), 3000)
		s += strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 9).Draw(t, "after"), "")
	}
	return s
}

// However a text comes, in whatever pieces and with whatever looks in between, its lines are in the end those of the
// whole text, and what was settled on the way never changes.
func TestAStreamEndsWithTheLinesOfTheWholeAndNeverTakesBackWhatItSettled(t *testing.T) {
	r := New(theme.Colours())
	rapid.Check(t, func(t *rapid.T) {
		text, width := document(t), rapid.IntRange(1, 110).Draw(t, "width")
		s := NewStream(r, rapid.IntRange(1, 110).Draw(t, "first width"))
		var settled []string
		for rest := text; rest != ""; {
			n := min(rapid.IntRange(1, 90).Draw(t, "n"), len(rest))
			if len(rest) > 5000 {
				n = min(n*90, len(rest))
			}
			s.Add(rest[:n])
			rest = rest[n:]
			if len(rest) < len(text)/2 && s.width != width {
				s.SetWidth(width)
				settled = nil
			}
			if rapid.Bool().Draw(t, "look") {
				lines := s.Lines()
				if !slices.Equal(settled, lines[:len(settled)]) {
					t.Fatalf("settled lines have changed:\n%q\n%q", settled, lines[:len(settled)])
				}
				settled = slices.Clone(lines[:s.Settled()])
				so := text[:len(text)-len(rest)]
				if want := r.Lines(so, s.width); !slices.Equal(lines, want) {
					t.Fatalf("after %q:\n%q\nwant\n%q", so, lines, want)
				}
			}
		}
		s.SetWidth(width)
		before := slices.Clone(s.Lines())
		s.Close()
		want := r.Lines(text, width)
		if !slices.Equal(s.Lines(), want) || !slices.Equal(before, want) || s.Settled() != len(want) {
			t.Fatalf("%q\n%q\nwant\n%q", before, s.Lines(), want)
		}
		checkLines(t, want, width)
	})
}

type failer interface{ Fatalf(string, ...any) }

// checkLines wants lines that cannot break their place: none too wide, and no byte in them that a terminal obeys but the
// colours of the renderer's own, each switched off on its line.
func checkLines(t failer, lines []string, width int) {
	for _, l := range lines {
		if n := ansi.StringWidth(l); n > width {
			t.Fatalf("%d cells of %d: %q", n, width, l)
		}
		on := false
		for rest := l; ; {
			i := strings.IndexByte(rest, '\x1b')
			if i < 0 {
				break
			}
			end := strings.IndexByte(rest[i:], 'm')
			if end < 0 || strings.Trim(rest[i:i+end], "\x1b[0123456789;") != "" {
				t.Fatalf("a sequence that is no colour: %q", l)
			}
			on = rest[i:i+end] != "\x1b["
			rest = rest[i+end:]
		}
		if on {
			t.Fatalf("a colour stays on: %q", l)
		}
		for _, c := range ansi.Strip(l) {
			if c < ' ' || c >= 0x7f && c < 0xa0 || c == '\u202e' || c == '\u2028' {
				t.Fatalf("%q in %q", c, l)
			}
		}
	}
}

func FuzzLines(f *testing.F) {
	sample, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(sample), 60)
	r, bare := New(theme.Colours()), New(theme.Plain())
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = 1 + abs(width)%200
		checkLines(t, r.Lines(text, width), width)
		for _, l := range bare.Lines(text, width) {
			if strings.Contains(l, "\x1b") {
				t.Fatalf("a sequence without a look: %q", l)
			}
		}
	})
}

func FuzzStream(f *testing.F) {
	sample, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(sample), 60, 7)
	r := New(theme.Colours())
	f.Fuzz(func(t *testing.T, text string, width, step int) {
		width, step = 1+abs(width)%200, max(1+abs(step)%500, len(text)/50)
		s := NewStream(r, width)
		var settled []string
		for at := 0; at < len(text); at += step {
			s.Add(text[at:min(at+step, len(text))])
			lines := s.Lines()
			if !slices.Equal(settled, lines[:len(settled)]) {
				t.Fatalf("settled lines have changed: %q", settled)
			}
			settled = slices.Clone(lines[:s.Settled()])
		}
		s.Close()
		if want := r.Lines(text, width); !slices.Equal(s.Lines(), want) {
			t.Fatalf("%q\nwant\n%q", s.Lines(), want)
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }

// texts of a megabyte: what models write, and what is one open block from its beginning to its end.
func texts(size int) map[string]string {
	sample, _ := os.ReadFile("testdata/sample.md")
	fill := func(s string) string { return strings.Repeat(s, size/len(s)+1)[:size] }
	return map[string]string{
		"mixed":     fill(string(sample) + "\n"),
		"fence":     "```go\n" + fill("func main() { fmt.Println(\"hello\", 42) } // a comment\n"),
		"list":      fill("- an item with some *words* in it, and `code`\n"),
		"item":      "1. do this:\n   ```sh\n" + fill("   echo \"$x\" | grep y # and so on\n"),
		"quote":     fill("> quoted words that go on and on\n"),
		"table":     "| a | b |\n|---|---|\n" + fill("| some `cell` | another one |\n"),
		"paragraph": fill("words *and* more `words` that never end, "),
		"unbroken":  fill("wwwwwwwwww"),
		"wide":      fill("日本語のテキスト"),
		"brackets":  fill("[a](*b_ **c "),
		"markup":    "<div>\n" + fill("<p>words</p>\n"),
	}
}

// feed streams a text as a model sends it, looked at after each piece, and returns how long that took; it gives up when
// that is too long.
func feed(text string, most time.Duration) time.Duration {
	const delta = 20
	s := NewStream(New(theme.Colours()), 100)
	begin := time.Now()
	for at := 0; at < len(text) && time.Since(begin) < most; at += delta {
		s.Add(text[at:min(at+delta, len(text))])
		s.Lines()
	}
	return time.Since(begin)
}

// A piece more costs the same late in a long text as early in it, whatever is open. Others drew the whole message again
// for each piece, so that long answers and long outputs made their screens stand still.
func TestAPieceCostsTheSameLateInALongText(t *testing.T) {
	const small, large = 16 << 10, 128 << 10
	longer := texts(large)
	for name, text := range texts(small) {
		ratio := 1e9
		for range 3 { // the machine may be busy with other things
			a := feed(text, time.Minute)
			b := feed(longer[name], 3*a*(large/small))
			ratio = min(ratio, float64(b)/float64(a)/(large/small))
			if ratio < 2 {
				break
			}
		}
		t.Logf("%s: %.2f times the cost of a piece in a text of an eighth of the length", name, ratio)
		if ratio > 2.5 {
			t.Errorf("%s: a piece costs %.1f times as much in a text that is 8 times as long", name, ratio)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	for name, text := range texts(1 << 20) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				took := feed(text, time.Hour)
				b.ReportMetric(float64(took.Nanoseconds())/float64(len(text)/20), "ns/add")
			}
		})
	}
}

func BenchmarkLines(b *testing.B) {
	text := texts(1 << 20)["mixed"]
	r := New(theme.Colours())
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Lines(text, 100)
	}
}
