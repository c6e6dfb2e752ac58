package composer

import (
	"strings"
	"testing"
)

func withHistory(t *testing.T, list ...string) *person {
	p := newPerson(t)
	p.src.history = list
	p.run(p.Init())
	return p
}

// Goal: up and down at the first and last row walk through what was sent, and what was being written is there at the end.
func TestUpAndDownWalk(t *testing.T) {
	p := withHistory(t, "newest", "two\nlines", "oldest")
	p.types("being\nwritten")
	p.press("up")
	p.wrote("being|\nwritten")
	p.press("up")
	p.wrote("newest|")
	p.press("up")
	p.wrote("two|\nlines")
	p.press("up", "up", "up")
	p.wrote("oldest|")
	p.press("down")
	p.wrote("two\nlines|")
	p.press("down", "down")
	p.wrote("being\nwritten|")
	p.press("down")
	p.wrote("being\nwritten|")
}

// Goal: what was changed on the way is there when one comes back to it.
func TestChangesOnTheWayStay(t *testing.T) {
	p := withHistory(t, "newest", "oldest")
	p.press("up")
	p.types("!")
	p.press("up", "down")
	p.wrote("newest!|")
	p.press("down")
	p.wrote("")
	p.press("up")
	p.wrote("newest|") // of another walk
}

// Goal: what is sent here is there at once, and once.
func TestSentMessagesAreTheNewest(t *testing.T) {
	p := withHistory(t, "stored", "again")
	for _, text := range []string{"here", "again", "again"} {
		p.types(text)
		p.press("enter")
	}
	p.press("up")
	p.wrote("again|")
	p.press("up")
	p.wrote("here|")
	p.press("up")
	p.wrote("stored|")
	p.press("up")
	p.wrote("stored|")
}

// Goal: a command that comes back from the history opens no popup that would take the next arrow.
func TestRecalledCommandsOpenNothing(t *testing.T) {
	p := withHistory(t, "/m", "before")
	p.press("up", "up")
	p.wrote("before|")
}

// Goal: ctrl+r finds what holds all words, as one types; what is taken can be undone, and esc leaves everything as it was.
func TestSearch(t *testing.T) {
	p := withHistory(t, "fix the parser", "write a test\nfor the parser", "deploy")
	p.types("unsent")
	p.press("ctrl+r")
	p.types("parser t")
	if got := p.screen(); got != "› fix the parser\n  write a test for the parser\nhistory: parser t  enter takes, esc close…\n> unsent" &&
		!strings.HasPrefix(got, "› fix the parser\n  write a test for the parser\nhistory: parser t  enter takes") {
		t.Errorf("found:\n%s", got)
	}
	if cur := p.Cursor(); cur.X != len("history: parser t") || cur.Y != 2 {
		t.Errorf("the cursor is at %+v", cur.Position)
	}
	p.press("esc")
	p.wrote("unsent|")
	p.press("ctrl+r")
	p.types("parser")
	p.press("ctrl+r", "enter")
	p.wrote("write a test\nfor the parser|")
	if len(p.sent) != 0 {
		t.Error("taking sent it")
	}
	p.press("ctrl+_")
	p.wrote("unsent|")
	p.press("ctrl+r")
	p.SetSize(80, 12)
	p.types("nothing like it")
	if got := p.screen(); !strings.Contains(got, "nothing like that") {
		t.Errorf("%s", got)
	}
	p.press("ctrl+w", "backspace", "ctrl+u")
	p.types("dep")
	p.press("tab")
	p.wrote("deploy|")
}

// Goal: a search that answers bit by bit shows each, and whoever has moved stays where he is.
func TestSearchGoesOn(t *testing.T) {
	p := withHistory(t, "one", "two", "three")
	p.src.slow = 2
	p.hold = true
	p.press("ctrl+r")
	ask := p.held[0]
	p.held = nil
	p.run(p.Update(ask()))
	if got := p.screen(); !strings.HasPrefix(got, "› one\nhistory") || len(p.held) != 1 {
		t.Fatalf("the beginning:\n%s", got)
	}
	ask, p.held = p.held[0], nil
	p.run(p.Update(ask()))
	p.press("down")
	p.release()
	if got := p.screen(); !strings.HasPrefix(got, "  one\n› two\n  three\nhistory") {
		t.Errorf("all:\n%s", got)
	}
}

// Goal: what others wrote into a history is text.
func TestHistoryIsClean(t *testing.T) {
	p := withHistory(t, "a\x1b[2Jb\x1b]0;title\x07c\u202e", "日本語 👩‍👩‍👧‍👦")
	p.press("up")
	p.wrote("abc|")
	p.press("ctrl+r", "down", "enter")
	p.wrote("日本語 👩‍👩‍👧‍👦|")
}

// Goal: what is pasted into the search is words on one line; a tab would move what is drawn after it.
func TestPasteIntoSearch(t *testing.T) {
	p := withHistory(t, "newest")
	p.press("ctrl+r")
	p.paste("a\tb\nc")
	if s := p.screen(); !strings.Contains(s, "history: a b c") {
		t.Errorf("%q", s)
	}
}
