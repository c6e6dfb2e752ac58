package pace

import (
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// What is written with marks of their own, as the names of files on a Mac are, gets to the terminal with them; all else
// is as it was.
func TestAccentsReachTheTerminal(t *testing.T) {
	out := &shown{}
	in, hold := io.Pipe()
	defer func() { _ = hold.Close() }()
	p := New(text{"Ame\u0301lie \x1b[1mu\u0308ber\x1b[m 日本語e\u0301"}, tea.WithInput(in), tea.WithOutput(out), tea.WithWindowSize(40, 5), tea.WithContext(t.Context()))
	over := make(chan error, 1)
	go func() {
		_, err := p.Run()
		over <- err
	}()
	for end := time.Now().Add(20 * time.Second); !out.has("Amélie") || !out.has("über") || !out.has("日本語é"); <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q", out.buf.String())
		}
	}
	p.Quit()
	if err := <-over; err != nil {
		t.Error(err)
	}
}

func TestComposed(t *testing.T) {
	for s, want := range map[string]string{
		"":                                "",
		"plain \x1b[31mwords\x1b[m":       "plain \x1b[31mwords\x1b[m",
		"e\u0301a\u0308o\u0302\u0323":     "éäộ",
		"é\u0301 日\u0301":                 "é\u0301 日\u0301",
		"x\u0301":                         "x\u0301",
		" \u0301\n\u0301\x1b[1;31m\u0301": " \u0301\n\u0301\x1b[1;31m\u0301",
		"\u0301":                          "\u0301",
		"e\u0301e\u0301":                  "éé",
		"e\xcc":                           "e\xcc",
		"n\u0303\u0303 1\ufe0f\u20e3 Å":   "ñ\u0303 1\ufe0f\u20e3 Å",
		"\u037e e\u037f":                  "\u037e e\u037f",
	} {
		if got := composed(s); got != want {
			t.Errorf("%q became %q, want %q", s, got, want)
		}
	}
	long := strings.Repeat("words and words\n", 500) + "e\u0301"
	if got := composed(long); !strings.HasSuffix(got, "words\né") || len(got) != len(long)-1 {
		t.Error("a long text")
	}
}
