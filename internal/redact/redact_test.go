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
