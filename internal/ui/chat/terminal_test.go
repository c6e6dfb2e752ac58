package chat

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/perdure/perdure/internal/ui/transcript"
)

// tape records what a program writes to a terminal that says nothing, so that it does not know synchronized output.
type tape struct {
	mu     sync.Mutex
	all    bytes.Buffer
	frames []int // sizes
}

func (w *tape) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frames = append(w.frames, len(b))
	return w.all.Write(b)
}

func (w *tape) take() (text string, frames []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, frames = w.all.String(), w.frames
	w.all.Reset()
	w.frames = nil
	return text, frames
}

// await waits until something was written.
func (w *tape) await(t *testing.T, words string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; <-time.After(5 * time.Millisecond) {
		w.mu.Lock()
		there := strings.Contains(w.all.String(), words)
		w.mu.Unlock()
		if there {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%q was not written", words)
		}
	}
}

// program runs a screen on a tape. Its size is 80×24.
func program(t *testing.T, change func(*Config), env ...string) (p *tea.Program, w *tape) {
	t.Helper()
	r, in := io.Pipe()
	w = &tape{}
	person := newModelOnly(change)
	p = tea.NewProgram(person, tea.WithInput(r), tea.WithOutput(w), tea.WithoutSignals(), tea.WithWindowSize(80, 24), tea.WithEnvironment(append([]string{"TERM=xterm-256color", "SSH_TTY=/dev/pts/1"}, env...)))
	done := make(chan error, 1)
	go func() { _, err := p.Run(); done <- err }()
	t.Cleanup(func() {
		p.Quit()
		if err := <-done; err != nil {
			t.Error(err)
		}
		in.Close()
	})
	return p, w
}

// Goal: the conversation can be written into the scrollback again and again, and the screen is drawn after it each time.
func TestScrollbackAndOn(t *testing.T) {
	p, w := program(t, nil)
	p.Send(Changed{Items: []transcript.Item{{ID: "p", Text: "begin"}}})
	w.await(t, "begin")
	for i := range 8 {
		w.take()
		p.Send(keyOf("ctrl+s")) // no bytes: a pipe cannot be lent out
		w.await(t, "\x1b[?1049l")
		w.await(t, "\x1b[?1049h")
		p.Send(Changed{Items: []transcript.Item{{ID: fmt.Sprint(i), Kind: transcript.Text, Text: fmt.Sprintf("after%d", i)}}})
		w.await(t, fmt.Sprintf("after%d", i))
	}
}

// Goal: where there shall be no colours there are none, on the screen and in the scrollback.
func TestNoColours(t *testing.T) {
	for _, env := range []string{"NO_COLOR=1", "TTY_FORCE=1"} {
		p, w := program(t, nil, env, "TTY_FORCE=1")
		p.Send(Changed{Items: []transcript.Item{{ID: "p", Text: "begin"}}})
		w.await(t, "begin")
		p.Send(keyOf("ctrl+s"))
		w.await(t, "\x1b[?1049l")
		p.Send(Changed{Items: []transcript.Item{{ID: "q", Text: "further"}}})
		w.await(t, "further")
		text, _ := w.take()
		if colours := strings.Contains(text, "\x1b[36m"); colours == (env == "NO_COLOR=1") {
			t.Errorf("%s: colours: %v", env, colours)
		}
	}
}

// Goal: while words stream, a terminal that does not know synchronized output gets small pieces and is never cleared:
// else it flickers, which people of several peers see in tmux and over SSH.
func TestStreamingIsDrawnInSmallPieces(t *testing.T) {
	p, w := program(t, nil)
	p.Send(Changed{Items: []transcript.Item{{ID: "p", Text: "begin"}}, Stand: working()})
	w.await(t, "begin")
	w.take()
	const pieces = 600 // as many as come in 20 seconds
	for i := range pieces {
		text := fmt.Sprintf("word%d and *more* ", i)
		if i%10 == 9 {
			text += "\n\n"
		}
		p.Send(Changed{Said: []Said{{ID: "s", Kind: transcript.Text, Text: text}}, Stand: working()})
		<-time.After(2 * time.Millisecond)
	}
	p.Send(Changed{Items: []transcript.Item{{ID: "end", Kind: transcript.Note, Text: "theend"}}})
	w.await(t, "theend")
	text, frames := w.take()
	if strings.Contains(text, "\x1b[2J") || strings.Contains(text, "\x1b[3J") || strings.Count(text, "\x1b[H\x1b[J") > 0 {
		t.Error("the terminal is cleared")
	}
	most := 0
	for _, n := range frames {
		most = max(most, n)
	}
	t.Logf("%d frames, %d bytes, at most %d in one", len(frames), len(text), most)
	if most > 16<<10 || len(text) > pieces*4<<10 {
		t.Errorf("%d bytes, at most %d in a frame", len(text), most)
	}
}
