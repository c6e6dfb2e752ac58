package plain

import (
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Goal: colours and progress bars reach the terminal, nothing else that it obeys does, however the output is cut.
func TestWriter(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\r\n":                                "a\tb\r\n",
		"\x1b[1;31mred\x1b[0m":                    "\x1b[1;31mred\x1b[0m\x1b[0m",
		"\x1b[38:2::1:2:3mx":                      "\x1b[38:2::1:2:3mx\x1b[0m",
		"10%\r20%\r":                              "10%\r20%\r",
		"\x1b]0;title\atext":                      "text",
		"\x1b]52;c;ZXZpbA==\x1b\\text":            "text",
		"\x1b[6nasked":                            "asked",
		"\x1b[2J\x1b[Hclear":                      "clear",
		"\x1b[?1049hother screen":                 "other screen",
		"\x1b[>0q\x1bP+q544e\x1b\\x":              "x",
		"\u009b6nc1":                              "c1",
		"back\b\b\bspace\a":                       "backspace",
		"\xffbyte":                                "\uFFFDbyte",
		"right\u202eleft":                         "rightleft",
		"never ended \x1b]0;title":                "never ended ",
		"\x1b[" + strings.Repeat("1;", 64) + "mx": "x",
		"\x1bP" + strings.Repeat("q", 3*maxCarry) + "\x1b\\x": "x",
		"äöü 漢字 ✓": "äöü 漢字 ✓",
	} {
		for size := 1; size <= min(len(in), 64); size++ {
			var out strings.Builder
			w := NewWriter(&out)
			for rest := in; rest != ""; {
				n := min(size, len(rest))
				if took, err := w.Write([]byte(rest[:n])); took != n || err != nil {
					t.Fatal(took, err)
				}
				rest = rest[n:]
			}
			if err := w.Close(); err != nil || out.String() != want {
				t.Fatalf("%q in pieces of %d: %q, want %q; %v", in, size, out.String(), want, err)
			}
		}
	}
}

// Goal: whatever comes, only colours and text go.
func TestWriterLetsNothingThrough(t *testing.T) {
	pieces := []string{
		"\x1b", "[", "]", "P", "\a", "\\", "\u009b", "\u009d", "\u009c", "31", ";", "m", "n", "x", "\n", "\r", "\x7f", "\xff", "\x9b", "c", "?",
		strings.Repeat("1", maxCarry),
	}
	rapid.Check(t, func(t *rapid.T) {
		var out strings.Builder
		w := NewWriter(&out)
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 24).Draw(t, "in") {
			if _, err := w.Write([]byte(p)); err != nil {
				t.Fatal(err)
			}
		}
		got := out.String()
		for i := strings.IndexByte(got, '\x1b'); i >= 0; i = strings.IndexByte(got, '\x1b') {
			n := escapeLength(got[i:])
			if !isColour(got[i : i+n]) {
				t.Fatalf("%q", out.String())
			}
			got = got[:i] + got[i+n:]
		}
		if safe := strings.ReplaceAll(got, "\r", ""); Text(safe) != safe {
			t.Fatalf("%q", out.String())
		}
	})
}

// Goal: what a command prints cannot make showing it slow.
func TestHostileOutputIsLinear(t *testing.T) {
	for _, piece := range []string{"\x1b]", "\x1b]a\a", "\x1b[", "\x1b[1", "\u009d", "\x1bP\u009c", "\x1b"} {
		in := strings.Repeat(piece, 1<<20/len(piece))
		begin := time.Now()
		w := NewWriter(io.Discard)
		if _, err := w.Write([]byte(in)); err != nil {
			t.Fatal(err)
		}
		Text(in)
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("1 MiB of %q took %v", piece, took)
		}
	}
}
