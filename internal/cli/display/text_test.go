package display

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":                   "plain\ttext\n",
		"a\x1b[31mred\x1b[0m b":           "ared b",
		"a\x1b[38;5;1mb":                  "ab",
		"title\x1b]0;evil\aafter":         "titleafter",
		"link\x1b]8;;http://x\x1b\\y":     "linky",
		"dcs\x1bPq...\x1b\\end":           "dcsend",
		"unfinished\x1b]52;c;ZXZpbA==":    "unfinished",
		"c1\u009b31mx":                    "c1x",
		"c1 string\u009devil\u009cafter":  "c1 stringafter",
		"reset\x1bcx":                     "resetx",
		"bell\a backspace\b cr\r del\x7f": "bell backspace cr del",
		"right\u202eleft":                 "rightleft",
		"not [31m a sequence":             "not [31m a sequence",
		"esc at the end\x1b":              "esc at the end",
		"broken \x1b[31\x01m":             "broken m",
		"emoji \u2713 und äöü":            "emoji \u2713 und äöü",
		"bytes \xff\x9b31m":               "bytes \uFFFD\uFFFD31m",
		"set\x1b(B of\x1b%G characters":   "set of characters",
		"\x1b[\x1b[31mnested":             "nested",
	} {
		if got := Safe(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestOneline(t *testing.T) {
	if got := Line("a\n b\t\tc", 10); got != "a b c" {
		t.Errorf("%q", got)
	}
	if got := Line(strings.Repeat("ä", 50), 10); got != strings.Repeat("ä", 9)+"…" {
		t.Errorf("%q", got)
	}
	if got := Line(strings.Repeat("x", 10<<20), 10); utf8.RuneCountInString(got) != 10 {
		t.Errorf("%d characters", utf8.RuneCountInString(got))
	}
}

// Whatever comes in, nothing comes out that a terminal obeys.
func TestPlainLetsNothingThrough(t *testing.T) {
	pieces := []string{
		"\x1b", "[", "]", "P", "\a", "\\", "\u009b", "\u009d", "\u009c", "\u0090", "31", ";", "m", "x", "\n", "\t", "\r", "\x7f", "\xff",
		"\x9b", "\u202e", "ä", "\x00", "c", "_", "^",
	}
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 24).Draw(t, "in"), "")
		for _, out := range []string{Safe(in), Line(in, 8)} {
			if !utf8.ValidString(out) {
				t.Fatalf("%q is no UTF-8, from %q", out, in)
			}
			for _, r := range out {
				if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) {
					t.Fatalf("%q of %q in %q", r, in, out)
				}
			}
		}
		if n := utf8.RuneCountInString(Line(in, 8)); n > 8 {
			t.Fatalf("%d characters", n)
		}
	})
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 5 << 20: "5.0 MiB", 1 << 62: "4.0 EiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("size of %d: %s, want %s", n, got, want)
		}
	}
}

func TestMoneyThatIsUnknown(t *testing.T) {
	if got := Money(nil); got != "?" {
		t.Errorf("shown as %q", got)
	}
}

// JSON keeps what it holds, and no byte of it is obeyed by a terminal or turns the direction of text.
func TestJSONIsPlain(t *testing.T) {
	in := "a\u202eb\u009b31mc\x7f\u2066d\u200be\U000e0041f\ufeff ä €"
	var out bytes.Buffer
	if err := Encoder(&out).Encode(in); err != nil {
		t.Fatal(err)
	}
	for _, r := range strings.TrimSuffix(out.String(), "\n") {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			t.Errorf("%U in %s", r, out.String())
		}
	}
	var back string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back != in {
		t.Errorf("%q is read back as %q, %v", in, back, err)
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"": "''", "a/b-c_1.x": "a/b-c_1.x", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'"} {
		if got := Quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
}
