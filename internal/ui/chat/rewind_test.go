package chat

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// busyPage is a page whose work goes on.
type busyPage struct{ paper }

func (*busyPage) Working() bool { return true }

func rewinding(on bool) func(*Config) {
	return func(c *Config) {
		c.Rewind, c.Stand.ID = on, "s"
		c.Commands = append(c.Commands, Command{Name: "rewind", Page: func(string) Page { return &busyPage{} }})
	}
}

// Goal: esc twice opens the page, and not once, not with another key between, not with words written, and not when it
// is off: elsewhere it cannot be switched off.
func TestEscTwiceGoesBack(t *testing.T) {
	esc, x := tea.KeyPressMsg{Code: tea.KeyEscape}, tea.KeyPressMsg{Code: 'x', Text: "x"}
	left := tea.KeyPressMsg{Code: tea.KeyLeft}
	for _, c := range []struct {
		on, opens bool
		keys      []tea.Msg
	}{
		{true, true, []tea.Msg{esc, esc}},
		{true, false, []tea.Msg{esc}},
		{true, false, []tea.Msg{esc, left, esc}},
		{true, false, []tea.Msg{x, esc, esc}},
		{false, false, []tea.Msg{esc, esc}},
	} {
		at(t, 80, 24, rewinding(c.on), func(p *person) {
			p.send(c.keys...)
			if opens := p.m.page != nil; opens != c.opens {
				t.Errorf("%v after %v: open %v", c.on, c.keys, opens)
			}
		})
	}
}

// Goal: who waits for what a page does is taken along, and who has closed it and writes is not: it is said where it is.
func TestWorkOfAPageTakesNobodyAlongWhoHasLeftIt(t *testing.T) {
	done := Done{Name: "rewind", Reply: Reply{Go: &Goal{Session: "child", Note: "it goes on here"}}}
	at(t, 80, 24, rewinding(true), func(p *person) {
		p.run(p.m.command("rewind", ""))
		p.send(done)
		if g := p.m.Result().Goal; !p.quit || g == nil || g.Session != "child" {
			t.Errorf("not taken along: %v", g)
		}
	})
	at(t, 80, 24, rewinding(true), func(p *person) {
		p.run(p.m.command("rewind", ""))
		p.send(tea.KeyPressMsg{Code: tea.KeyEscape}, tea.KeyPressMsg{Code: 'h', Text: "h"})
		p.send(done)
		if p.quit || p.m.Result().Goal != nil {
			t.Error("taken along")
		}
		if s := p.screen(); !strings.Contains(s, "/resume child") || !strings.Contains(s, "> h") {
			t.Errorf("it is not said:\n%s", s)
		}
	})
}

// Goal: esc that is pressed twice in a hurry cancels what runs, once: a message that begins then is not cancelled with it.
func TestEscTwiceCancelsOnce(t *testing.T) {
	esc := tea.KeyPressMsg{Code: tea.KeyEscape}
	at(t, 80, 24, nil, func(p *person) {
		p.send(Changed{Stand: working()})
		p.send(esc, esc)
		p.want("cancel")
		p.sees("cancelled")
		p.send(esc)
		p.want("cancel")
	})
}
