package lineage

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/perdure/perdure/internal/plain"
)

// Goal: a claim that repeats a text is found however the text is set, and one that only shares words with it is not.
func TestMatcher(t *testing.T) {
	const claim = "always run make lint before a commit is pushed"
	for text, want := range map[string]bool{
		"note: Always run `make lint` before a commit is pushed.":                     true,
		"  12\talways run\n  13\tmake lint before\n  14\ta commit is pushed":          true,
		"al\u200bways r\u00adun make l\u200dint before a commit is pushed":            true,
		"\x1b[31mal\x1b[0mways \x1b[1mrun\x1b[0m make lint before a commit is pushed": true,
		`{"text":"rules:\nalways run make lint\nbefore a commit\nis pushed"}`:         true,
		"you must always run make lint before each commit is pushed":                  true, // 8 of 9
		"ALWAYS RUN MAKE LINT BEFORE A COMMIT IS PUSHED":                              true,
		"make test":                        false,
		"run lint, then commit, then push": false,
		"always " + strings.Repeat("and so on ", 20) + "run make lint before a commit is pushed":                         true,
		"always run " + strings.Repeat("x ", 40) + "make lint " + strings.Repeat("y ", 40) + "before a commit is pushed": false,
		"": false,
	} {
		m := NewMatcher([]string{"", claim, "§ !"})
		m.Feed(text)
		if m.Repeats(1) != want || m.Any() != want || m.Repeats(0) || m.Repeats(2) {
			t.Errorf("%q: %v, want %v", text, m.Repeats(1), want)
		}
	}
	m := NewMatcher([]string{claim})
	m.Feed("always run make lint")
	m.Feed("before a commit is pushed")
	if m.Any() {
		t.Error("two texts are not one")
	}
}

// Goal: only a writer's own lines are given, whatever is quoted in between.
func TestOwn(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb":                                       "a|b",
		"a\n> quoted\nstill quoted\n\nb":             "a|b",
		"> quoted\n- mine":                           "- mine",
		"- > quoted\n  also\n\nb":                    "b",
		"```\nx\n```\na":                             "a",
		"~~~~\nx\n~~~\ny\n~~~~\na":                   "a",
		"```\nx":                                     "",
		"- ```sh\n  x\n  ```\n- a":                   "- a",
		"a\n\n    code\n\nb":                         "a|b",
		"- a\n    more":                              "- a|    more",
		"<!-- x\ny -->\na":                           "a",
		"<!-- x --> y\na":                            "a",
		"<summary>\nx\n</summary>\na":                "a",
		"<summary>\nx\n</summary>\ny\n</summary>\na": "a",
		"<summary>\nx":                               "",
		"see: <file path=\"a\">\nx\n</file>":         "",
		"<T>\na":                                     "<T>|a",
		"<br/>\na":                                   "<br/>|a",
		"<details>\nx\n</details>\na":                "a",
		"a\r\n```\r\nx\r\n```\r\nb\rc":               "a|b|c",
		"\tcode":                                     "",
	} {
		var got []string
		for _, l := range Own(text) {
			got = append(got, l.Text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Goal: no text makes the reader fail, or take long.
func FuzzOwn(f *testing.F) {
	for _, s := range []string{"a\n> b", "```\n~~~", "<a>\n</a>\n<b>", "<!--", strings.Repeat("<x>\n", 200)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last, all := 0, strings.Count(text, "\n")+strings.Count(text, "\r")+1
		for _, l := range Own(text) {
			if l.N <= last || l.N > all || strings.ContainsAny(l.Text, "\r\n") {
				t.Fatalf("%q: line %d: %q", text, l.N, l.Text)
			}
			last = l.N
		}
		m := NewMatcher([]string{text})
		m.Feed(text)
		if m.Any() != (Words(text) > 0) {
			t.Fatalf("%q does not repeat itself", text)
		}
	})
}

// Goal: each character of ASCII parts words, belongs to one, or does not show, as it does among others.
func TestWordsOfASCII(t *testing.T) {
	for r := range rune(0x80) {
		if r == '\x1b' {
			continue
		}
		want := []string{"x", "y"}
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			want = []string{"x" + string(unicode.ToLower(r)) + "y"}
		case !unicode.IsSpace(r) && plain.Hidden(r):
			want = []string{"xy"}
		}
		if got := slices.Collect(words("X" + string(r) + "y")); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", r, got, want)
		}
	}
}
