package chat

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/ui/theme"
)

// The line of words to find has the terminal's own cursor, of the composer's shape, behind the last cell of what was
// typed; a character that is made of many is taken off whole, and the end of a long line is what is seen.
func TestTheFindLineHasACursorOfTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPerson(t, 40, 12, nil)
		_, of := p.m.screen()
		p.press("ctrl+f")
		p.write("日本")
		p.send(tea.KeyPressMsg{Text: "👨‍👩‍👧", Code: tea.KeyExtended})
		_, c := p.m.screen()
		if c == nil || c.X != len("find: ")+2+2+2 || of == nil || c.Shape != of.Shape || c.Blink != of.Blink {
			t.Errorf("the cursor is %+v, the composer's %+v", c, of)
		}
		p.press("backspace")
		if got := p.m.search.line.Text; got != "日本" {
			t.Errorf("%q is left", got)
		}
		p.write(strings.Repeat("語", 30))
		lines, c := p.m.screen()
		if line := ansi.Strip(lines[c.Y]); c.X > 39 || ansi.StringWidth(line) > 40 || !strings.Contains(line, "語語") || !strings.HasPrefix(line, "find: ") {
			t.Errorf("%q, cursor %+v", line, c)
		}
		p.leave()
	})
}

// What the screen says of itself is no sentence in a colour that a light background leaves pale: yellow or cyan.
func TestNoSentenceIsPale(t *testing.T) {
	pale := regexp.MustCompile("\x1b\\[3[36]m[^\x1b]*\\pL+ +\\pL+ +\\pL+[^\x1b]*")
	synctest.Test(t, func(t *testing.T) {
		p := newPerson(t, 80, 24, func(c *Config) { c.Style = theme.Colours() })
		for _, st := range []Stand{
			{Halted: "the turn was left open: enter goes on with it, esc ends it"},
			{Waits: 2, Working: true, Activity: "waiting for an answer", Mode: "default"},
			{Other: "somebody else on another machine", Used: 80, Window: 100},
		} {
			p.send(Changed{Stand: &st})
			p.m.tell(false, "a line that goes away by itself")
			for range 2 {
				lines, _ := p.m.screen()
				if found := pale.FindString(strings.Join(lines, "\n")); found != "" {
					t.Errorf("%q", found)
				}
				p.m.note = note{}
			}
		}
		p.leave()
	})
}
