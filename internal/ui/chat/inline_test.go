package chat

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/transcript"
)

// words are the lines that were printed, but for blank ones.
func (p *person) words() (got []string) {
	for _, l := range p.printed {
		if l = strings.TrimSpace(l); l != "" {
			got = append(got, l)
		}
	}
	return got
}

// Goal: inline, whoever leaves while words come, or before it is known that they are all, has them in the scrollback as far
// as they have come, once.
func TestLeavingKeepsWhatHasCome(t *testing.T) {
	at(t, 80, 24, func(c *Config) { c.Inline = true }, func(p *person) {
		p.send(Changed{Items: []transcript.Item{{ID: "p", Kind: transcript.Person, Text: "tell me"}}, Stand: working()})
		p.send(Changed{Items: []transcript.Item{{ID: "a", Kind: transcript.Text, Text: "First."}}})
		p.send(Changed{Said: []Said{{ID: "b", Kind: transcript.Text, Text: "Second, which is not"}}})
		p.press("ctrl+c", "ctrl+c")
		if want := []string{"> tell me", "First.", "Second, which is not"}; !p.quit || !slices.Equal(p.words(), want) {
			t.Errorf("left %v with %q, want %q", p.quit, p.words(), want)
		}
	})
}

// Goal: while the terminal is made narrower nothing is printed; whoever leaves then leaves when that is over.
func TestLeavingWaitsForTheSize(t *testing.T) {
	at(t, 80, 24, func(c *Config) { c.Inline = true }, func(p *person) {
		p.send(tea.WindowSizeMsg{Width: 60, Height: 24})
		p.send(Changed{Items: []transcript.Item{{ID: "a", Kind: transcript.Text, Text: "First."}}, Stand: working()})
		p.press("ctrl+c", "ctrl+c")
		if p.quit || len(p.words()) > 0 {
			t.Errorf("left %v with %q", p.quit, p.words())
		}
		p.wait(printAfter)
		if want := []string{"First."}; !p.quit || !slices.Equal(p.words(), want) {
			t.Errorf("left %v with %q, want %q", p.quit, p.words(), want)
		}
	})
}
