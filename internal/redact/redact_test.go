package redact_test

import (
	"testing"

	"github.com/perdure/perdure/internal/redact"
)

// Known values are replaced by their names wherever they stand; short values and other text are left alone.
func TestReplace(t *testing.T) {
	s := redact.New(map[string]string{"KEY": "sk-12345678", "LONG": "sk-12345678-more", "SHORT": "abc"})
	for in, want := range map[string]string{
		"x sk-12345678 y":        "x [secret:KEY] y",
		"sk-12345678-more":       "[secret:LONG]",
		"abc stays":              "abc stays",
		"sk-1234567":             "sk-1234567",
		"sk-12345678sk-12345678": "[secret:KEY][secret:KEY]",
	} {
		if got := string(s.Replace([]byte(in))); got != want {
			t.Errorf("Replace(%q) = %q, want %q", in, got, want)
		}
	}
	var none *redact.Set
	if got := string(none.Replace([]byte("sk-12345678"))); got != "sk-12345678" {
		t.Errorf("an empty set replaced something: %q", got)
	}
}

// A text read in pieces shows no value, wherever it is cut, if what Partial says is kept back.
func TestPartial(t *testing.T) {
	s := redact.New(map[string]string{"KEY": "sk-12345678", "REPEAT": "aaaaaaaab"})
	text := "x sk-12345678 sk-1234 aaaaaaaaab sk-12345678"
	for size := 1; size <= len(text); size++ {
		var held, out []byte
		for at := 0; at < len(text); at += size {
			held = append(held, text[at:min(at+size, len(text))]...)
			keep := s.Partial(held)
			out = append(out, s.Replace(held[:len(held)-keep])...)
			held = held[len(held)-keep:]
		}
		out = append(out, s.Replace(held)...)
		if got, want := string(out), string(s.Replace([]byte(text))); got != want {
			t.Errorf("in pieces of %d: %q, want %q", size, got, want)
		}
	}
}

// A name that takes the place of its value is found; one that stands there for itself is not.
func TestLost(t *testing.T) {
	s := redact.New(map[string]string{"KEY": "sk-12345678"})
	for _, c := range []struct{ old, content, want string }{
		{"key = sk-12345678", "key = [secret:KEY]", "[secret:KEY]"},
		{"a sk-12345678 b sk-12345678", "a [secret:KEY] b sk-12345678", "[secret:KEY]"},
		{"key = sk-12345678", "key = sk-12345678 # not [secret:KEY]", ""},
		{"key = sk-12345678", "", ""},
		{"is [secret:KEY]", "was [secret:KEY]", ""},
		{"", "[secret:KEY]", ""},
		{"key = sk-12345678", "key = [secret:OTHER]", ""},
	} {
		if got := s.Lost([]byte(c.old), []byte(c.content)); got != c.want {
			t.Errorf("%q to %q: %q, want %q", c.old, c.content, got, c.want)
		}
	}
	if got := (*redact.Set)(nil).Lost([]byte("a"), []byte("b")); got != "" {
		t.Errorf("an empty set: %q", got)
	}
}

// Of a value of several lines each is found by itself, as listings with numbers, and files with other line ends, show it.
func TestLinesOfAValue(t *testing.T) {
	s := redact.New(map[string]string{"PEM": "-----BEGIN KEY-----\nMIIBVQIBADAN\nBgkqhkiG9w0B\nAQ==\n-----END KEY-----\n"})
	for in, want := range map[string]string{
		"     1\t-----BEGIN KEY-----\n     2\tMIIBVQIBADAN\n     3\tBgkqhkiG9w0B\n":  "     1\t-----BEGIN KEY-----\n     2\t[secret:PEM]\n     3\t[secret:PEM]\n",
		"MIIBVQIBADAN\r\nBgkqhkiG9w0B\r\n":                                           "[secret:PEM]\r\n[secret:PEM]\r\n",
		"AQ== stays":                                                                 "AQ== stays",
		"-----BEGIN KEY-----\nMIIBVQIBADAN\nBgkqhkiG9w0B\nAQ==\n-----END KEY-----\n": "[secret:PEM]",
	} {
		if got := string(s.Replace([]byte(in))); got != want {
			t.Errorf("Replace(%q) = %q, want %q", in, got, want)
		}
	}
}

// The end of a value at the beginning of a cut text is told.
func TestTorn(t *testing.T) {
	s := redact.New(map[string]string{"KEY": "sk-12345678", "PEM": "abcdefghij\nklmnopqrst"})
	for in, want := range map[string]int{"": 0, "78 x": 2, "k-12345678": 10, "sk-12345678": 0, "x78": 0, "ghij\nklm": 4, "opqrst": 6} {
		if got := s.Torn([]byte(in)); got != want {
			t.Errorf("Torn(%q) = %d, want %d", in, got, want)
		}
	}
	if got := (*redact.Set)(nil).Torn([]byte("x")); got != 0 {
		t.Errorf("an empty set: %d", got)
	}
}
