package composer

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/uax29/v2/graphemes"
	"pgregory.net/rapid"
)

// model is the trivial editor: characters as a person takes them, and a place among them.
type model struct {
	chars []string
	at    int
}

func (m *model) text() string { return strings.Join(m.chars, "") }

// put puts a text for some characters.
func (m *model) put(from, to int, s string) {
	head := strings.Join(m.chars[:from], "") + s
	text := head + strings.Join(m.chars[to:], "")
	m.chars, m.at = nil, 0
	seen := 0
	for it := graphemes.FromString(text); it.Next(); {
		if seen < len(head) {
			m.at++
		}
		seen += len(it.Value())
		m.chars = append(m.chars, it.Value())
	}
}

// lineFrom and lineTo are where the line of the cursor begins and ends.
func (m *model) lineFrom() int {
	i := m.at
	for i > 0 && m.chars[i-1] != "\n" {
		i--
	}
	return i
}

func (m *model) lineTo() int {
	i := m.at
	for i < len(m.chars) && m.chars[i] != "\n" {
		i++
	}
	return i
}

func (m *model) do(key string) {
	switch key {
	case "left":
		m.at = max(m.at-1, 0)
	case "right":
		m.at = min(m.at+1, len(m.chars))
	case "home":
		m.at = m.lineFrom()
	case "end":
		m.at = m.lineTo()
	case "ctrl+home":
		m.at = 0
	case "ctrl+end":
		m.at = len(m.chars)
	case "ctrl+j":
		m.put(m.at, m.at, "\n")
	case "backspace":
		if m.at > 0 {
			m.put(m.at-1, m.at, "")
		}
	case "delete":
		if m.at < len(m.chars) {
			m.put(m.at, m.at+1, "")
		}
	case "ctrl+u":
		if from := m.lineFrom(); from < m.at {
			m.put(from, m.at, "")
		} else {
			m.do("backspace")
		}
	case "ctrl+k":
		if to := m.lineTo(); to > m.at {
			m.put(m.at, to, "")
		} else {
			m.do("delete")
		}
	}
}

var (
	pieces = []string{"a", "b", " ", "日", "本", "é", "e", "\u0301", "👩", "\u200d", "👩‍👩‍👧‍👦", "🇩", "🇪", "❤", "\ufe0f", "👍🏽", "1\ufe0f\u20e3", "#\ufe0f", "\u20e3", "🇩🇪", "👩🏿\u200d🚀", "🏴\U000e0067\U000e007f", "각", "ᄀ", "ᅡ", "न", "ि", "\t", "\n", "x y", "\u1160", "\u0600"}
	keys   = []string{"left", "right", "home", "end", "ctrl+home", "ctrl+end", "ctrl+j", "backspace", "delete", "ctrl+u", "ctrl+k"}
)

// Goal: whatever is typed, the text and the cursor are those of the trivial editor; and taking every change back gives the
// beginning again, and making them again the end.
func TestEditsAreThoseOfAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPerson(t)
		p.SetSize(rapid.IntRange(1, 30).Draw(rt, "width"), rapid.IntRange(1, 14).Draw(rt, "height"))
		m := &model{}
		for range rapid.IntRange(1, 40).Draw(rt, "edits") {
			if rapid.Bool().Draw(rt, "insert") {
				s := clean(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 4).Draw(rt, "text"), ""))
				p.buf.insert(s)
				m.put(m.at, m.at, s)
				p.check()
			} else {
				key := rapid.SampledFrom(keys).Draw(rt, "key")
				p.run(p.Update(press(key)))
				m.do(key)
				p.check()
			}
			if got := p.buf.text(); got != m.text() {
				rt.Fatalf("written is %q, want %q", got, m.text())
			}
			if got, want := p.buf.between(pos{}, p.buf.cur), strings.Join(m.chars[:m.at], ""); got != want {
				rt.Fatalf("the cursor is behind %q, want %q", got, want)
			}
		}
		for p.buf.undo() {
			p.check()
		}
		if !p.buf.empty() {
			rt.Fatalf("undone: %q", p.buf.text())
		}
		for p.buf.redo() {
			p.check()
		}
		if got := p.buf.text(); got != m.text() {
			rt.Fatalf("done again: %q, want %q", got, m.text())
		}
	})
}

// Goal: up and down are moves: nothing changes, and the cursor stays between characters and on the screen.
func TestMovesChangeNothing(t *testing.T) {
	moves := []string{"up", "down", "left", "right", "alt+b", "alt+f", "ctrl+left", "ctrl+right", "home", "end"}
	rapid.Check(t, func(rt *rapid.T) {
		p := newPerson(t)
		p.SetSize(rapid.IntRange(12, 30).Draw(rt, "width"), rapid.IntRange(2, 14).Draw(rt, "height"))
		text := clean(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 80).Draw(rt, "text"), ""))
		p.buf.insert(text)
		for range 30 {
			p.run(p.Update(press(rapid.SampledFrom(moves).Draw(rt, "key"))))
			p.check()
		}
		if got := p.buf.text(); got != text {
			rt.Fatalf("%q, was %q", got, text)
		}
	})
}

// FuzzKeysAndPastes presses and pastes anything: what is drawn fits, and the cursor is in it. Each byte below 64 is a
// key, a longer piece is typed or pasted.
func FuzzKeysAndPastes(f *testing.F) {
	all := append([]string{"up", "down", "ctrl+w", "ctrl+y", "ctrl+_", "alt+_", "ctrl+r", "tab", "enter", "esc", "ctrl+c", "alt+b", "alt+f", "alt+d", "ctrl+x", "alt+enter", "ctrl+g"}, keys...)
	f.Add("a\x00日本語\x01👩‍👩‍👧‍👦\x06", uint8(40), uint8(12))
	f.Add("/m\x07x\x08@R\x07", uint8(20), uint8(4))
	f.Add("\x06par\x01\x07e\u0301\x1b[31m", uint8(13), uint8(3))
	f.Add("/tmp/a.png \x08", uint8(1), uint8(1))
	f.Add("x", uint8(11), uint8(0))
	f.Fuzz(func(t *testing.T, script string, width, height uint8) {
		if len(script) > 100 {
			return
		}
		p := newPerson(t)
		p.src.files, p.src.history = someFiles, []string{"old\nwords", "日本語\x1b[2J"}
		p.src.images["/tmp/a.png"] = png(9)
		p.run(p.Init())
		p.SetSize(int(width%100), int(height%30))
		from := 0
		for i := 0; i <= len(script); i++ {
			if i < len(script) && script[i] >= 32 {
				continue
			}
			switch piece := script[from:i]; {
			case piece == "":
			case i%3 == 0:
				p.paste(piece)
			case i%3 == 1:
				p.paste(strings.Repeat(piece+"\r\n", 300))
			default:
				p.run(p.Update(tea.KeyPressMsg{Code: tea.KeyExtended, Text: piece}))
			}
			if i < len(script) {
				p.clock = p.clock.Add(time.Duration(script[i]) * 50 * time.Millisecond)
				p.run(p.Update(press(all[int(script[i])%len(all)])))
				if i%5 == 0 {
					p.SetSize(int(width/(script[i]+1)), int(height))
				}
			}
			p.check()
			from = i + 1
		}
	})
}
