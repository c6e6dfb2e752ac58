package chooser

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/theme"
)

const hostile = "a\x1b]0;title\ab\x1b[2Jc\r\n日本語 👨‍👩‍👧 é\t\u202ex"

func page(n int) *Page {
	rows := []Row{{Key: "hostile", Line: hostile, About: hostile}}
	for i := range n {
		rows = append(rows, Row{Key: fmt.Sprint("k", i), Line: fmt.Sprint("thing ", i), About: "about it"})
	}
	return New(theme.Colours(), hostile, rows, func(key string) tea.Msg { return key })
}

// press presses a key and gives what it sends.
func press(p *Page, name string) any {
	k := tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
	for n, code := range map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "down": tea.KeyDown, "end": tea.KeyEnd, "backspace": tea.KeyBackspace} {
		if n == name {
			k = tea.KeyPressMsg{Code: code}
		}
	}
	if cmd := p.Update(k); cmd != nil {
		return cmd()
	}
	return nil
}

// Every frame has its lines, none too wide, and nothing in it that a terminal obeys, at every size.
func TestTheFrameFits(t *testing.T) {
	for width := 1; width < 100; width += 7 {
		for height := 1; height < 30; height += 3 {
			p := page(50)
			p.SetSize(width, height)
			for _, key := range []string{"down", "t", "end", "down", "x", "esc"} {
				view := p.View()
				lines := strings.Split(view, "\n")
				if len(lines) != height {
					t.Fatalf("%d×%d: %d lines", width, height, len(lines))
				}
				for _, l := range lines {
					if ansi.StringWidth(l) > width {
						t.Fatalf("%d×%d: %q", width, height, l)
					}
				}
				for _, bad := range []string{"\x1b]", "\x1b[2J", "\a", "\r", "\u202e"} {
					if strings.Contains(view, bad) {
						t.Fatalf("%q is drawn", bad)
					}
				}
				press(p, key)
			}
		}
	}
}

// Letters narrow the list, enter takes what is selected, esc clears the letters and then goes back.
func TestSomethingIsChosen(t *testing.T) {
	p := page(50)
	p.SetSize(40, 12)
	press(p, "down")
	if got := press(p, "enter"); got != "k0" {
		t.Errorf("the second: %v", got)
	}
	for _, r := range "thing 33" {
		press(p, string(r))
	}
	if v := ansi.Strip(p.View()); !strings.Contains(v, "▌ thing 33") || strings.Contains(v, "thing 3\n") {
		t.Errorf("%s", v)
	}
	if got := press(p, "enter"); got != "k33" {
		t.Errorf("the only one: %v", got)
	}
	press(p, "q")
	if got := press(p, "enter"); got != nil || !strings.Contains(p.View(), "nothing has these words") {
		t.Errorf("none: %v", got)
	}
	if got := press(p, "esc"); got != nil {
		t.Errorf("the letters first: %v", got)
	}
	if got := press(p, "esc"); got != "" {
		t.Errorf("back: %v", got)
	}
}
