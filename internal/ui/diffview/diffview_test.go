package diffview

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/ui/theme"
)

var update = flag.Bool("update", false, "write the golden files anew")

const before = "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"hello, world\")\n\tx := 1\n}\n\n// a\n// b\n// c\n// d\n// e\n// f\n// g\nvar last = \"日本語\"\n"

var after = strings.NewReplacer("hello, world", "hello there, world", "\tx := 1\n", "\tx := 2\n\ty := \"\x1b[31mred\u200b\"\n", "日本語\"\n", "日本語 👩‍👩‍👧\"").Replace(before)

// Goal: how a diff looks at the widths that people have.
func TestGoldenDiffs(t *testing.T) {
	for _, c := range []struct {
		name   string
		styles theme.Styles
		width  int
	}{{"eighty", theme.Colours(), 80}, {"forty", theme.Plain(), 40}, {"tiny", theme.Plain(), 16}} {
		lines := New(c.styles).Lines(before, after, "cmd/a/very/long/directory/main.go", c.width)
		checkLines(t, lines, c.width)
		got := strings.ReplaceAll(strings.Join(lines, "\n"), "\x1b", "^") + "\n"
		path := filepath.Join("testdata", c.name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs; -update writes it anew:\n%s", c.name, got)
		}
	}
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// checkLines wants lines that are not too wide and steer nothing.
func checkLines(t failer, lines []string, width int) {
	t.Helper()
	for _, l := range lines {
		if n := ansi.StringWidth(l); n > width {
			t.Fatalf("%d cells of %d: %q", n, width, l)
		}
		for _, c := range ansi.Strip(l) {
			if c < ' ' || c >= 0x7f && c < 0xa0 || c == '\u202e' || c == '\u200b' {
				t.Fatalf("%q in %q", c, l)
			}
		}
		for _, s := range strings.Split(l, "\x1b")[1:] {
			if end := strings.IndexByte(s, 'm'); end < 0 || strings.Trim(s[:end], "[0123456789;") != "" {
				t.Fatalf("a sequence that is no colour: %q", l)
			}
		}
	}
}

func lines(old, now string, width int) string {
	return strings.Join(New(theme.Plain()).Lines(old, now, "f", width), "|")
}

func TestWhatIsSaidInThePlaceOfLines(t *testing.T) {
	big := strings.Repeat("line\n", maxBytes/5+1)
	for _, c := range []struct{ old, now, want string }{
		{"a\n", "a\n", "f  nothing changed"},
		{"", "", "f  nothing changed"},
		{"a\x00", "b", "f  binary, 2 B → 1 B"},
		{"a", "\xff\xfe", "f  binary, 1 B → 2 B"},
		{big, big + "x\n", "f  too large to be shown here, 1.0 MiB → 1.0 MiB: up to 1 lines differ"},
		{"", "a\nb", "f  +2 -0|  1 + a|  2 + b|      ⤶ no end of line"},
		{"a\r\nb\r\n", "a\r\nc\r\n", "f  +1 -1|1 1   a|2   - b|  2 + c"},
		{"a\nb\r\n", "a\nc\r\n", `f  +1 -1|1 1   a|2   - b\u000d|  2 + c\u000d`},
		{"a\r\n", "a\n", `f  +1 -1|1   - a\u000d|  1 + a`},
		{"שלום\n", "", "f  +0 -1|1   - \u2066שלום\u2069"},
	} {
		if got := lines(c.old, c.now, 80); got != c.want {
			t.Errorf("%.20q → %.20q:\n got %q\nwant %q", c.old, c.now, got, c.want)
		}
	}
}

// A long diff says how much of it is not shown, and so does a long line.
func TestWhatIsCutIsCounted(t *testing.T) {
	got := New(theme.Plain()).Lines("", strings.Repeat("x\n", maxRows+50), "f", 80)
	if n := len(got); n != maxRows+2 || got[n-1] != "… 50 more lines are not shown: +50 -0" {
		t.Errorf("%d lines, the last one %q", n, got[n-1])
	}
	got = New(theme.Plain()).Lines("", strings.Repeat("日", maxLine), "f", 80)
	if all := strings.Join(got, ""); !strings.Contains(all, "… 2.0 KiB more") || len(got) > 20 {
		t.Errorf("%q", got)
	}
}

// What changed within a line is marked in both of its forms; a line that is another one altogether is not.
func TestChangedWords(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"x := foo(1, 2)", "x := bar(1, 3)", "x := [foo](1, [2]) → x := [bar](1, [3])"},
		{"return nil", "return nil, err", "return nil → return nil[, err]"},
		{"one two three", "four five six", "one two three → four five six"},
		{"日本語の長い文です", "日本語の長い本です", "日本語の長い文です → 日本語の長い本です"},
		{"a é b", "a e b", "a [é] b → a [e] b"},
		{strings.Repeat("a.", 300) + "x", strings.Repeat("a.", 300) + "y", strings.Repeat("a.", 300) + "[x] → " + strings.Repeat("a.", 300) + "[y]"},
	} {
		inA, inB := differ(c.a, c.b)
		if got := marked(c.a, inA) + " → " + marked(c.b, inB); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	s := theme.Colours()
	got := New(s).Lines("a b c\n", "a x c\n", "f", 80)
	if want := s.Removed.Styled("-") + " a " + s.Changed.Styled("b") + " c"; !strings.Contains(got[1], want) {
		t.Errorf("%q", got[1])
	}
}

func marked(s string, spans []span) string {
	for i := len(spans) - 1; i >= 0; i-- {
		s = s[:spans[i].from] + "[" + s[spans[i].from:spans[i].to] + "]" + s[spans[i].to:]
	}
	return s
}

// A diff that git wrote is shown as one that was made here, and what it says of files without lines is said.
func TestAUnifiedDiff(t *testing.T) {
	text := udiff.Unified("a/f", "b/f", before, after)
	v := New(theme.Colours())
	want := strings.Join(v.Lines(before, after, "f", 80), "\n")
	for _, head := range []string{"", "diff --git a/f b/f\nindex 1..2 100644\n"} {
		if got := strings.Join(v.FromUnified(head+text, 80), "\n"); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
	several := "diff --git a/x b/x\nBinary files a/x and b/x differ\ndiff --git a/y b/z\nsimilarity index 100%\nrename from y\nrename to z\n" +
		"--- /dev/null\t2026\n+++ b/n\n@@ -0,0 +1 @@ func\n+--- a\n--- a/old\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\\ No newline at end of file\n" +
		"@@ what\n@@ -1 +1,9999999999999999999999 @@\n+x\n"
	got := strings.Join(New(theme.Plain()).FromUnified(several, 80), "|")
	if want := "x  binary||z  rename to z||n  +1 -0|  1 + --- a||old  +0 -2|1   - a|2   - b|      ⤶ no end of line"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// Counting and drawing agree, and the lines of a diff without its additions are those of the old text.
func TestCountsAndLinesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "b c d e\n", "\n", "}\n", "x", "\tb c d f\n"}), 0, 40).Draw(t, name), "")
		}
		old, now := text("old"), text("now")
		added, removed := Stat(old, now)
		f := compare(old, now, "f")
		if a, r := f.stat(); a != added || r != removed || f.note != "" && old != now {
			t.Fatalf("%d %d, drawn %d %d, %s", added, removed, a, r, f.note)
		}
		linesOf := func(s string) []string { return strings.Split(s, "\n") }
		for _, h := range f.hunks {
			for _, r := range h.rows {
				if r.a > 0 && linesOf(old)[r.a-1] != r.text || r.b > 0 && linesOf(now)[r.b-1] != r.text {
					t.Fatalf("%+v", r)
				}
			}
		}
		a, b := trim(old, now)
		if !strings.Contains(old, a) || !strings.Contains(now, b) || len(old)-len(a) != len(now)-len(b) || (old == now) != (a+b == "") {
			t.Fatalf("%q %q", a, b)
		}
		width := rapid.IntRange(1, 120).Draw(t, "width")
		checkLines(t, New(theme.Colours()).Lines(old, now, "name", width), width)
	})
}

// Of texts too large to be compared, the lines between the first and the last that differ count, and only whole lines are
// the same.
func TestTrimTakesWholeLines(t *testing.T) {
	for _, c := range [][4]string{
		{"zb\n", "b\n", "zb\n", "b\n"},
		{"b\n", "zb\n", "b\n", "zb\n"},
		{"a\nb\nc\n", "a\nx\nc\n", "b\n", "x\n"},
		{"a\nxc", "a\nyc", "xc", "yc"},
		{"a\nb\n", "a\n", "b\n", ""},
		{"a", "a\n", "a", "a\n"},
		{"x\ny\n", "y\n", "x\n", ""},
	} {
		if a, b := trim(c[0], c[1]); a != c[2] || b != c[3] {
			t.Errorf("%q %q: %q %q", c[0], c[1], a, b)
		}
	}
	big := strings.Repeat("x\n", maxBytes)
	if added, removed := Stat(big+"one\ntwo\n"+big, big+"zwei\n"+big); added != 1 || removed != 2 {
		t.Errorf("+%d -%d", added, removed)
	}
}

func FuzzDiff(f *testing.F) {
	f.Add(before, after, 80)
	f.Add("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "שלום\t\x1b]0;t\a\u202e", 9)
	f.Fuzz(func(t *testing.T, old, now string, width int) {
		width = 1 + max(width, -(width+1))%150
		v := New(theme.Colours())
		checkLines(t, v.Lines(old, now, now, width), width)
		checkLines(t, v.FromUnified(old, width), width)
		checkLines(t, v.FromUnified(udiff.Unified(old, now, old, now), width), width)
	})
}

// Large texts that have nothing in common do not keep a person waiting.
func BenchmarkLines(b *testing.B) {
	var x, y strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&x, "line %d of one text that is long\n", i)
		fmt.Fprintf(&y, "line %d of another text\n", i*7)
	}
	old, now := x.String(), y.String()
	v := New(theme.Colours())
	for b.Loop() {
		v.Lines(old, now, "f", 100)
	}
}

// To draw again, at another width, costs little: what takes time was done before.
func BenchmarkDrawAgain(b *testing.B) {
	old := strings.Repeat(strings.Repeat("word, ", 40)+"\n", 300)
	d := New(theme.Colours()).Compare(old, strings.ReplaceAll(old, "word, word, word,", "word, other, word,"), "f")
	for b.Loop() {
		d.Lines(100)
	}
}

// A part of a file has no numbers of lines, since nobody knows where it begins, and its last line goes on in the file: that
// it has no end says nothing. Where an end of line is what changed, it is shown.
func TestAPartOfAFileHasNoNumbers(t *testing.T) {
	v := New(theme.Plain())
	text := func(old, now string, width int) string {
		lines := v.ComparePart(old, now, "a.txt").Lines(width)
		checkLines(t, lines, width)
		return strings.Join(lines, "\n")
	}
	if got, want := text("one\nthree", "one\ndrei", 40), "a.txt  +1 -1\n  one\n- three\n+ drei"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got, want := text("three", "", 80), "a.txt  +0 -1\n- three"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := text("three", "three\n", 80); !strings.Contains(got, "no end of line") {
		t.Errorf("the end of line that was added does not show: %s", got)
	}
	if got := text("three", "three", 80); !strings.Contains(got, "nothing changed") {
		t.Errorf("%s", got)
	}
}
