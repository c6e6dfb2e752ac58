package textpage

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/ui/theme"
)

var keys = map[string]tea.KeyPressMsg{
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "space": {Code: tea.KeySpace, Text: " "},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "enter": {Code: tea.KeyEnter},
}

func press(p *Page, names ...string) {
	for _, n := range names {
		k, ok := keys[n]
		if !ok {
			k = tea.KeyPressMsg{Code: rune(n[0]), Text: n}
		}
		p.Update(k)
	}
}

func text(p *Page) string { return ansi.Strip(p.View()) }

// Goal: the page is exactly as large as its room, whatever the text, the size and the keys.
func TestAnySize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := []string{"", "word ", "日本語", "👩‍👩‍👧‍👦", "e\u0301", "\t", "\r\n", "\n", "0 %\r50 %", "\x1b[2J\x1b[31m", "\x1b]0;x\a", "\u202e", "\xff", strings.Repeat("x", 300), strings.Repeat("line\n", 40)}
		p := New(theme.Colours(), rapid.SampledFrom(pieces).Draw(t, "title"), strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "text"), ""))
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			w, h := rapid.IntRange(1, 200).Draw(t, "w"), rapid.IntRange(1, 60).Draw(t, "h")
			p.SetSize(w, h)
			press(p, rapid.SampledFrom([]string{"up", "down", "pgup", "pgdown", "space", "home", "end", "enter", "g", "G", "x"}).Draw(t, "key"))
			lines := strings.Split(p.View(), "\n")
			if len(lines) != h {
				t.Fatalf("%d lines in %d", len(lines), h)
			}
			for _, l := range lines {
				if ansi.StringWidth(l) != w {
					t.Fatalf("%d cells in %d: %q", ansi.StringWidth(l), w, l)
				}
				if strings.ContainsFunc(ansi.Strip(l), func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }) {
					t.Fatalf("a control character in %q", l)
				}
			}
		}
	})
}

// Goal: keys reach every line, and the title says where one is; what is read stays when the width changes.
func TestScroll(t *testing.T) {
	var b strings.Builder
	for i := 1; i <= 100; i++ {
		fmt.Fprintf(&b, "line %d %s\n", i, strings.Repeat("wörter ", 20))
	}
	p := New(theme.Styles{}, "Title", b.String())
	p.SetSize(200, 11)
	if s := text(p); !strings.Contains(s, "1–10 of 100 lines") || !strings.Contains(s, "line 1 ") {
		t.Errorf("%s", s)
	}
	press(p, "space", "space", "down", "k", "j")
	if s := text(p); !strings.Contains(s, "20–29 of 100") {
		t.Errorf("%s", s)
	}
	p.SetSize(70, 11)
	if s := text(p); !strings.Contains(s, "line 20 ") {
		t.Errorf("it moved:\n%s", s)
	}
	press(p, "end")
	if s := text(p); !strings.Contains(s, "line 100 ") {
		t.Errorf("%s", s)
	}
	press(p, "g")
	if s := text(p); !strings.Contains(s, "line 1 ") {
		t.Errorf("%s", s)
	}
}

// Goal: a text of megabytes opens at once and says what it leaves out; a bar that was drawn over itself is one line.
func TestLongText(t *testing.T) {
	p := New(theme.Styles{}, "T", strings.Repeat("1 %\r", 1000)+"100 %\ta\n"+strings.Repeat("a line of words\n", 1<<20))
	start := time.Now()
	p.SetSize(80, 24)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("%v", took)
	} else {
		t.Log(took)
	}
	if s := text(p); !strings.Contains(s, "100 %   a") || strings.Contains(s, "1 %1 %") {
		t.Errorf("%s", s)
	}
	press(p, "G")
	if s := text(p); !strings.Contains(s, "the rest is left out here") {
		t.Errorf("%s", s)
	}
}

// Words are found downwards and upwards, from what is on the screen; n and N go on, and the end is said. While words are
// written, letters are words.
func TestFindsWords(t *testing.T) {
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	p := New(theme.Plain(), "output", text.String())
	p.SetSize(40, 12)
	press := func(names ...string) {
		for _, n := range names {
			k := tea.KeyPressMsg{Code: []rune(n)[0], Text: n}
			switch n {
			case "enter":
				k = tea.KeyPressMsg{Code: tea.KeyEnter}
			case "esc":
				k = tea.KeyPressMsg{Code: tea.KeyEscape}
			case "backspace":
				k = tea.KeyPressMsg{Code: tea.KeyBackspace}
			}
			p.Update(k)
		}
	}
	sees := func(words string) {
		t.Helper()
		if v := p.View(); !strings.Contains(v, words) {
			t.Fatalf("%q is not there:\n%s", words, v)
		} else if n := strings.Count(v, "\n"); n != 11 {
			t.Fatalf("%d lines", n+1)
		}
	}
	press("/", "q", "backspace", "L", "I", "N", "E")
	p.Update(tea.PasteMsg{Content: " 33\x1b[2J"})
	if c := p.Cursor(); !p.Typing() || c == nil || c.Y != 11 {
		t.Fatalf("%+v", c)
	}
	press("esc")
	if p.Typing() {
		t.Fatal("esc closes it")
	}
	press("/", "n", "e", " ", "3", "3", "enter")
	sees("line 33")
	press("n")
	sees("line 330")
	press("n", "n")
	sees("line 332")
	press("N", "N")
	sees("line 330")
	press("N")
	sees("line 33 ")
	press("N")
	sees("found no further: ne 33")
	press("G")
	press("n")
	sees("found no further")
	press("N")
	sees("line 339")
	p.SetSize(40, 1)
	press("n", "N", "/", "x")
	p.View()
}
