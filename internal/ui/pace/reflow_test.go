package pace

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// lines is a frame among printed lines, whose cursor stands in the last but one.
type lines struct{ content string }

func (m lines) Init() tea.Cmd { return nil }

func (m lines) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if s, ok := msg.(string); ok {
		m.content = s
	}
	return m, nil
}

func (m lines) View() tea.View {
	v := tea.NewView(m.content)
	v.Cursor = tea.NewCursor(2, strings.Count(m.content, "\n")-1)
	return v
}

// among is a program that runs on a terminal of 40 cells with that name, and has drawn a frame of that width.
type among struct {
	*tea.Program
	t    *testing.T
	out  *shown
	over chan error
}

func newAmong(t *testing.T, name, frame string) *among {
	t.Helper()
	a := &among{t: t, out: &shown{}, over: make(chan error, 1)}
	a.Program = New(lines{frame}, tea.WithInput(nil), tea.WithOutput(a.out), tea.WithWindowSize(40, 20), tea.WithContext(t.Context()),
		tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	go func() {
		_, err := a.Run()
		a.over <- err
	}()
	a.until("bottom")
	a.Send(tea.TerminalVersionMsg{Name: name})
	a.Send(tea.WindowSizeMsg{Width: 40, Height: 20})
	a.Send("> \nready")
	a.until("ready")
	a.Send(frame)
	a.Send("drawn\n" + frame)
	a.until("drawn")
	a.out.mu.Lock()
	a.out.buf.Reset()
	a.out.mu.Unlock()
	return a
}

// until waits for what is written.
func (a *among) until(word string) {
	a.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !a.out.has(word); <-tick.C {
		if time.Now().After(end) {
			a.t.Fatalf("%q is not drawn", word)
		}
	}
}

// end is what was written since the frame.
func (a *among) end() string {
	a.t.Helper()
	a.Quit()
	if err := <-a.over; err != nil && context.Cause(a.t.Context()) == nil {
		a.t.Error(err)
	}
	a.out.mu.Lock()
	defer a.out.mu.Unlock()
	return string(bytes.Clone(a.out.buf.Bytes()))
}

// narrowed is what is written when a terminal of that name is made 20 cells wide, with a frame on it that was drawn at 40.
func narrowed(t *testing.T, name, frame string) string {
	t.Helper()
	a := newAmong(t, name, frame)
	a.Send(tea.WindowSizeMsg{Width: 20, Height: 20})
	a.Send("after\n> \nbottom")
	a.until("after")
	return a.end()
}

// A terminal that breaks the lines of a frame when it is made narrower has them blanked before the new ones are drawn;
// one that cuts them off, or says nothing of itself, does not have what stands above the frame overwritten.
func TestAFrameThatTheTerminalBreaksIsGoneWhole(t *testing.T) {
	const frame = "thirty cells of words are here\nshort\n日本語日本語日本語日本語\n> \nbottom"
	for name, more := range map[string]int{"tmux 3.4": 2, "kitty(0.42)": 2, "XTerm(388)": 0, "": 0} {
		got := narrowed(t, name, frame)
		above := 1 + 3 + more // with the line "drawn"
		want := ansi.CursorUp(above) + strings.Repeat(ansi.EraseEntireLine+ansi.CursorDown(1), above) + ansi.CursorUp(more)
		if more == 0 {
			if strings.Contains(got, ansi.EraseEntireLine+ansi.CursorDown(1)) {
				t.Errorf("%q: %q", name, got)
			}
			continue
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %q is not in %q", name, want, got)
		}
	}
}

// The rows above a cursor are counted as a terminal breaks them: wide characters go to the next row whole, and a cursor
// behind the width goes with what is before it.
func TestRowsAboveTheCursor(t *testing.T) {
	for _, c := range []struct {
		frame       string
		x, y, width int
		want        int
	}{
		{"a\nb\n> ", 2, 2, 10, 2},
		{"0123456789\nb\n> ", 2, 2, 5, 3},
		{"0123456789\nb\n> ", 2, 2, 4, 4},
		{"日本語日\n> ", 2, 1, 5, 2},
		{"\x1b[31m0123456789\x1b[m      \n> ", 2, 1, 10, 1},
		{"> 0123456789", 12, 0, 5, 2},
		{"> 0123456789", 7, 0, 5, 1},
	} {
		if got := above(c.frame, c.x, c.y, c.width); got != c.want {
			t.Errorf("%q at %d,%d in %d cells: %d rows, want %d", c.frame, c.x, c.y, c.width, got, c.want)
		}
	}
}
