package chat

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/ui/asks"
	"github.com/perdure/perdure/internal/ui/composer"
	"github.com/perdure/perdure/internal/ui/transcript"
)

var words = []string{"日本語", "👩‍👩‍👧‍👦 family", "e\u0301", "\x1b[2J\x1b[31mred", "a\tb\r\nc", strings.Repeat("long ", 60), "\u202eturned", "x"}

// change is some news of a session.
func change(t *rapid.T, n int) tea.Msg {
	w := rapid.SampledFrom(words).Draw(t, "words")
	id := fmt.Sprint("n", n)
	switch rapid.IntRange(0, 8).Draw(t, "news") {
	case 0:
		return Changed{Said: []Said{{ID: fmt.Sprint("s", n/4), Kind: transcript.Text, Text: w + " "}}, Stand: working()}
	case 1:
		return Changed{Items: []transcript.Item{{ID: id, Kind: transcript.Person, Text: w, With: []string{w}}}}
	case 2:
		state := transcript.State(rapid.IntRange(0, 6).Draw(t, "state"))
		return Changed{Items: []transcript.Item{{ID: CallID(id), Kind: transcript.Tool, Call: transcript.Call{Act: id, Name: "Bash", About: w, Output: w, State: state}}}}
	case 3:
		var q []Queued
		for i := range rapid.IntRange(0, 6).Draw(t, "queue") {
			q = append(q, Queued{Key: fmt.Sprint(i), Text: w})
		}
		return Changed{Queue: q, Queues: true}
	case 4:
		return Changed{Stand: stand(func(s *Stand) { s.Halted, s.Title, s.Waits = w, w, 1 })}
	case 5:
		return Changed{Drop: []string{fmt.Sprint("n", n-1), fmt.Sprint("s", n/4)}, Stand: stand(nil)}
	case 6:
		return Gone{Text: w}
	case 7:
		return replyMsg{"cost", Reply{Title: w, Text: strings.Repeat(w+"\n", 50)}, nil}
	}
	return tea.PasteMsg{Content: w}
}

// Goal: at any size, with anything on the screen, it is as large as it should be, with the cursor in it.
func TestAnySize(t *testing.T) {
	always(t, func(rt *rapid.T, c *Config) { c.Inline = rapid.Bool().Draw(rt, "inline") }, func(rt *rapid.T, p *person) {
		p.s.waits = []asks.Ask{{ID: "a1", Kind: asks.Approval, Line: words[0], Asked: time.Now()}, {ID: "a2", Kind: asks.Approval, Line: words[5], Asked: time.Now()}, {ID: "a3", Kind: asks.Approval, Line: words[3]}}
		keys := []string{"a", "語", "enter", "esc", "tab", "up", "down", "alt+up", "pgup", "pgdown", "ctrl+o", "ctrl+f", "ctrl+l", "shift+tab", "/", "?", "ctrl+j", "ctrl+r", "q", "shift+home"}
		for n := range rapid.IntRange(1, 25).Draw(rt, "steps") {
			switch rapid.IntRange(0, 2).Draw(rt, "what") {
			case 0:
				p.send(change(rt, n))
			case 1:
				p.press(rapid.SampledFrom(keys).Draw(rt, "key"))
			case 2:
				p.send(tea.WindowSizeMsg{Width: rapid.IntRange(1, 200).Draw(rt, "w"), Height: rapid.IntRange(1, 60).Draw(rt, "h")})
			}
		}
	})
}

// Goal: letters and enter that somebody types never answer what begins to wait while they type, whatever the order: only
// with the list opened by its key, drawn and read, is anything answered. Keys that were meant for a message have answered
// dialogs of several peers, which ran commands that nobody had allowed.
func TestTypingNeverAnswers(t *testing.T) {
	always(t, nil, func(rt *rapid.T, p *person) {
		p.send(Changed{Stand: working()})
		keys := []string{"y", "s", "p", "u", "n", "1", "enter", "space", "tab", "down", "esc", "a", "backspace", "pgup", "w"}
		for n := range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch rapid.IntRange(0, 4).Draw(rt, "what") {
			case 0:
				p.s.mu.Lock()
				p.s.waits = append(p.s.waits, asks.Ask{ID: fmt.Sprint("a", n), Kind: asks.Kind(n % 2), Line: "rm -rf /", Asked: time.Now()})
				waits := len(p.s.waits)
				p.s.mu.Unlock()
				p.send(Changed{Stand: stand(func(s *Stand) { s.Waits = waits })})
			case 1:
				p.wait(time.Duration(rapid.IntRange(1, 3000).Draw(rt, "ms")) * time.Millisecond)
			default:
				p.press(rapid.SampledFrom(keys).Draw(rt, "key"))
			}
			if p.m.asking() || p.s.answered != nil {
				rt.Fatalf("the list has the keys: %v, answered %q", p.m.asking(), p.s.answered)
			}
		}
		// Opened by its key in the middle of fast typing it answers nothing either.
		p.press("ctrl+o", "y", "enter", "s", "enter", "1", "enter")
		if p.s.answered != nil {
			rt.Fatalf("typing on answered %q", p.s.answered)
		}
	})
}

// Goal: inline, each item is printed once and in order, whatever the news come in, and the rest is small.
func TestInlinePrintsOnce(t *testing.T) {
	at(t, 80, 24, func(c *Config) { c.Inline = true }, func(p *person) {
		var want []string
		for i := range 30 {
			id := fmt.Sprint("said ", i)
			for _, w := range []string{"these ", "words ", fmt.Sprint("are ", i)} {
				p.send(Changed{Said: []Said{{ID: id, Kind: transcript.Text, Text: w}}, Stand: working()})
			}
			call := transcript.Item{ID: CallID(id), Kind: transcript.Tool, Call: transcript.Call{Act: id, Name: "Bash", About: fmt.Sprint("make ", i), State: transcript.Running}}
			p.send(Changed{Items: []transcript.Item{call}})
			if i%2 == 0 {
				p.send(Changed{Whole: []string{id}})
			} else {
				p.send(Changed{Items: []transcript.Item{{ID: id, Kind: transcript.Text, Text: fmt.Sprint("these words are ", i)}}})
			}
			call.Call.State = transcript.Done
			p.send(Changed{Items: []transcript.Item{call}})
			want = append(want, fmt.Sprint("these words are ", i), fmt.Sprint("✓ Bash make ", i))
		}
		var got []string
		for _, l := range p.printed {
			if l = strings.TrimSpace(l); l != "" {
				got = append(got, l)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("printed %q", got)
		}
		p.press("pgup", "shift+home", "tab", "up", "esc", "ctrl+s")
		p.want("")
		p.press("?")
		if v := p.m.View(); !v.AltScreen {
			t.Error("a page is drawn over the conversation")
		}
		p.press("esc")
		if v := p.m.View(); v.AltScreen {
			t.Error("the page is closed and the screen is not")
		}
	})
}

// Goal: a first message that was given on the command line is sent, or is there to be written on.
func TestBeginsWithADraft(t *testing.T) {
	for _, send := range []bool{true, false} {
		at(t, 80, 24, func(c *Config) {
			c.Draft, c.Send = composer.Draft{Parts: []composer.Part{composer.Text("first")}}, send
		}, func(p *person) {
			if p.sees("first"); send {
				p.want("send k1 first")
			} else {
				p.want("")
				p.sees("> first")
			}
		})
	}
}
