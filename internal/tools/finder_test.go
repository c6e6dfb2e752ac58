package tools

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/session"
)

// Goal: a line is looked at once its end has come, as BashOutput shows it, and each state of a progress bar is one.
func TestFinder(t *testing.T) {
	for _, c := range []struct{ pattern, out, want string }{
		{"^ok$", "no\nok\nok\n", "ok"},
		{"^ok$", "no\nok", ""},
		{"^ok$", "not ok\n ok\n", ""},
		{"^ok$", "\x1b[32mok\x1b[0m\r\n", "ok"},
		{"100%", "10%\r50%\r100%\rdone", "100%"},
		{"100%", "10%\r50%\r100%\r", ""}, // a newline may follow
		{"^$", "a\r\nb\r\n", ""},
		{"^$", "a\n\nb\n", ""}, // an empty line matches, and is told as what it is
		{"x", "\xff\xfex\n", "\uFFFDx"},
		{"long", "long" + strings.Repeat("é", 1000) + "\n", "long" + strings.Repeat("é", 507) + " […]"},
	} {
		f := Finder{Pattern: regexp.MustCompile(c.pattern)}
		got, ok := f.Write([]byte(c.out))
		if want := c.want != "" || c.pattern == "^$" && strings.Contains(c.out, "\n\n"); got != c.want || ok != want {
			t.Errorf("%q in %.40q: %.80q, %v", c.pattern, c.out, got, ok)
		}
		if len(got) > session.MaxAwaitLine {
			t.Errorf("a line of %d bytes", len(got))
		}
	}
}

// Goal: a line without an end costs bounded memory, and is looked at in pieces.
func TestFinderLongLine(t *testing.T) {
	f := Finder{Pattern: regexp.MustCompile("^z+$")}
	for range 1000 {
		if _, ok := f.Write(bytes.Repeat([]byte("y"), 10_000)); ok || len(f.carry) > maxMatched || cap(f.carry) > 4*maxMatched {
			t.Fatalf("%v, %d bytes carried in %d", ok, len(f.carry), cap(f.carry))
		}
	}
	if f.Next() != 10_000_000 {
		t.Errorf("at %d", f.Next())
	}
}

// Goal: the end of the stream and a gap end a line, and a gap is counted.
func TestFinderEnds(t *testing.T) {
	f := Finder{Pattern: regexp.MustCompile("^half"), At: 100}
	if _, ok := f.Write([]byte("one\nhal")); ok || f.At != 104 || f.Next() != 107 {
		t.Fatalf("%v at %d", ok, f.At)
	}
	if _, ok := f.Skip(50); ok || f.At != 157 || f.Gap != 50 {
		t.Fatalf("%v at %d, gap %d", ok, f.At, f.Gap)
	}
	if _, ok := f.Write([]byte("f\nhalf")); ok {
		t.Fatal("a line was put together over a gap")
	}
	if line, ok := f.End(); !ok || line != "half" || f.At != 159 {
		t.Fatalf("%q %v at %d", line, ok, f.At)
	}
}

// Goal: however a stream is cut into pieces, and wherever a search begins anew, the first line that matches is found; a
// secret is hidden before anything is matched, whatever pieces it comes in.
func TestFinderPieces(t *testing.T) {
	secret := []byte("s3cr\net-value")
	replace := func(b []byte) []byte { return bytes.ReplaceAll(b, secret, []byte("[secret:X]")) }
	partial := func(b []byte) int {
		for n := min(len(b), len(secret)-1); n > 0; n-- {
			if bytes.HasSuffix(b, secret[:n]) {
				return n
			}
		}
		return 0
	}
	pattern := regexp.MustCompile(`gr[ae]y|s3cr|et-value|secret:X.*end`)
	rapid.Check(t, func(t *rapid.T) {
		words := []string{"gray", "grey", "gr", "ay", "\n", "\r", "\r\n", "x", "\x1b[1m", "é", string(secret), "s3cr", "end", ""}
		var text string
		for range rapid.IntRange(0, 30).Draw(t, "words") {
			text += rapid.SampledFrom(words).Draw(t, "word")
		}
		text += "\n"
		want, found := "", false
		for _, line := range strings.Split(string(replace([]byte(text))), "\n") {
			for _, piece := range strings.Split(strings.TrimRight(line, "\r"), "\r") {
				if shown := string(cleanLine([]byte(piece))); !found && pattern.MatchString(shown) {
					want, found = shown, true
				}
			}
		}
		f := &Finder{Pattern: pattern, Replace: replace, Partial: partial}
		got, ok := "", false
		for !ok && f.Next() < int64(len(text)) {
			n := rapid.IntRange(1, 9).Draw(t, "piece")
			from := f.Next()
			got, ok = f.Write([]byte(text[from:min(int64(len(text)), from+int64(n))]))
			if !ok && rapid.IntRange(0, 9).Draw(t, "begin anew") == 0 {
				f = &Finder{Pattern: pattern, Replace: replace, Partial: partial, At: f.At}
			}
		}
		if !ok {
			got, ok = f.End()
		}
		if got != want || ok != found {
			t.Fatalf("in %q: %q %v, want %q %v", text, got, ok, want, found)
		}
	})
}
