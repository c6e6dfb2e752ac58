package pace

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

const broken = "thirty cells of words are here\n> \nbottom"

// What is printed while a frame is broken by its terminal comes above the frame that is drawn then, and not into the
// broken one.
func TestLinesArePrintedAboveAWholeFrame(t *testing.T) {
	a := newAmong(t, "tmux 3.4", broken)
	a.Send(tea.WindowSizeMsg{Width: 20, Height: 20})
	a.Send(tea.Println("told one")())
	a.Send(tea.Println("told two")())
	a.Send("after\n> \nbottom")
	a.until("told two")
	got := a.end()
	if after, one, two := strings.Index(got, "after"), strings.Index(got, "told one"), strings.Index(got, "told two"); after < 0 || one < after || two < one {
		t.Errorf("%d, %d, %d: %q", after, one, two, got)
	}
}

// Before a frame is drawn anew its terminal is asked for its width. While that is not the one it has told nothing is drawn.
func TestTheTerminalIsAskedForItsWidth(t *testing.T) {
	const up = ansi.EraseEntireLine + "\x1b[B" // a line that was broken
	a := newAmong(t, "tmux 3.4", broken)
	a.Send(tea.WindowSizeMsg{Width: 20, Height: 20})
	a.Send("after\n> \nbottom")
	a.until(askWidth)
	a.Send(tea.CursorPositionMsg{X: 35, Y: 3}) // it is wider again, and has not told yet
	a.until(strings.Repeat(askWidth, 2))
	a.Send(tea.WindowSizeMsg{Width: 36, Height: 20})
	a.until(strings.Repeat(askWidth, 3))
	a.Send(tea.CursorPositionMsg{X: 35, Y: 3})
	a.until("after")
	if got := a.end(); strings.Contains(got, up) || strings.Count(got, askWidth) != 3 {
		t.Errorf("%q", got)
	}
}

// A terminal that never says what it has told is believed in the end.
func TestATerminalThatAnswersSomethingElse(t *testing.T) {
	a := newAmong(t, "tmux 3.4", broken)
	a.Send(tea.WindowSizeMsg{Width: 20, Height: 20})
	a.Send("after\n> \nbottom")
	for i := range maxAsked {
		a.until(strings.Repeat(askWidth, i+1))
		a.Send(tea.CursorPositionMsg{X: 77})
	}
	a.until("after")
	a.end()
}

// A height that changes while the width settles has the frame drawn all the same.
func TestTheHeightChangesMeanwhile(t *testing.T) {
	a := newAmong(t, "tmux 3.4", broken)
	a.Send(tea.WindowSizeMsg{Width: 20, Height: 20})
	a.Send(tea.WindowSizeMsg{Width: 20, Height: 18})
	a.Send("after\n> \nbottom")
	a.until(askWidth)
	a.Send(tea.CursorPositionMsg{X: 19})
	a.until("after")
	a.end()
}
