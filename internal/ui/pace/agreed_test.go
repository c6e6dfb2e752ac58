package pace

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Goal: no character is drawn about whose width terminals disagree, so that nothing behind it moves; each takes as many
// cells as it was counted for, whichever way one counts, and what all agree about is as it was.
func TestNoCharacterIsOfAWidthThatTerminalsDisagreeAbout(t *testing.T) {
	for s, want := range map[string]string{
		"":                           "",
		"plain 日本語 e\u0301 ⌚ ✓ ❤ x":  "plain 日本語 e\u0301 ⌚ ✓ ❤ x",
		"1\ufe0f\u20e3 First":        "1  First",
		"#\ufe0f\u20e3*\ufe0f\u20e3": "# * ",
		"9\u20e3.":                   "9.",
		"1\ufe0f x":                  "1  x",
		"⚠\ufe0f \x1b[31mred ❤\ufe0f\x1b[m done": "⚠  \x1b[31mred ❤ \x1b[m done",
		"⌚\ufe0f!": "⌚!",
		"a 👩\u200d💻 b 👨\u200d👩\u200d👧":                            "a 👩 b 👨",
		"👍🏽 👍🏿|":                                                  "👍 👍|",
		"🇩🇪 🇫🇷":                                                   "DE FR",
		"🏴\U000e0067\U000e0062\U000e007f":                         "🏴",
		"\u0646\u0645\u06cc\u200c\u062e \u0915\u094d\u200d\u0937": "\u0646\u0645\u06cc\u200c\u062e \u0915\u094d\u200d\u0937",
		"m\x1b[1m\ufe0fx \x1b]8;;http://a\x07❤\ufe0f":             "m\x1b[1m\ufe0fx \x1b]8;;http://a\x07❤ ",
	} {
		got := agreed(s, false)
		if got != want {
			t.Errorf("%q became %q, want %q", s, got, want)
		}
		if ansi.StringWidth(got) != ansi.StringWidth(s) {
			t.Errorf("%q has %d cells, %q %d", got, ansi.StringWidth(got), s, ansi.StringWidth(s))
		}
		if ansi.StringWidth(got) != ansi.StringWidthWc(got) {
			t.Errorf("%q is %d or %d cells wide", got, ansi.StringWidth(got), ansi.StringWidthWc(got))
		}
	}
}

// Goal: a terminal that says that it measures characters whole gets them whole; another one does not.
func TestATerminalThatMeasuresCharactersWholeGetsThem(t *testing.T) {
	const words = "1\ufe0f\u20e3 and 👩\u200d💻"
	for value, whole := range map[ansi.ModeSetting]bool{ansi.ModeNotRecognized: false, ansi.ModeReset: true} {
		out := &shown{}
		in, hold := io.Pipe()
		p := New(text{"nothing"}, tea.WithInput(in), tea.WithOutput(out), tea.WithWindowSize(40, 5), tea.WithContext(t.Context()), tea.WithoutSignals())
		over := make(chan error, 1)
		go func() {
			_, err := p.Run()
			over <- err
		}()
		p.Send(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: value})
		p.Send(words)
		want := "1  and 👩" // of a key cap the digit, whatever the terminal says
		if whole {
			want += "\u200d💻"
		}
		for end := time.Now().Add(20 * time.Second); !out.has(want); <-time.After(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%v: %q", value, out.buf.String())
			}
		}
		if out.has("\u200d") != whole {
			t.Errorf("%v: %q", value, out.buf.String())
		}
		p.Quit()
		if err := <-over; err != nil {
			t.Error(err)
		}
		_ = hold.Close()
	}
}

// Goal: a frame without such characters costs next to nothing.
func BenchmarkAgreed(b *testing.B) {
	frame := strings.Repeat(fmt.Sprintf("\x1b[1m%s\x1b[m 日本語\n", strings.Repeat("words ", 12)), 50)
	for b.Loop() {
		_ = agreed(frame, false)
	}
}
