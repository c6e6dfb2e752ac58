package pace

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// shown is a screen that counts, and what it wrote.
type shown struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *shown) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(b)
}

func (s *shown) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Contains(s.buf.Bytes(), []byte(text))
}

type text struct{ says string }

func (m text) Init() tea.Cmd { return nil }

func (m text) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if s, ok := msg.(string); ok {
		m.says = s
	}
	return m, nil
}

func (m text) View() tea.View { return tea.NewView(m.says) }

// The ticker is where it is looked for in the version of bubbletea that this module uses; a screen on which nothing
// happens slows down, and what happens then is drawn all the same.
func TestAnIdleScreenSlowsDownAndWakes(t *testing.T) {
	out := &shown{}
	in, hold := io.Pipe()
	defer func() { _ = hold.Close() }()
	m := &model{in: text{"first"}}
	p := tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(out), tea.WithWindowSize(40, 5), tea.WithContext(t.Context()), tea.WithFPS(fps))
	m.program = p
	over := make(chan error, 1)
	go func() {
		_, err := p.Run()
		over <- err
	}()
	until := func(what string, ok func() bool) {
		t.Helper()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(20 * time.Second); !ok(); <-tick.C {
			if time.Now().After(end) {
				t.Fatalf("not %s", what)
			}
		}
	}
	until("drawn", func() bool { return out.has("first") })
	for _, word := range []string{"second", "third"} {
		until("slow", func() bool { m.mu.Lock(); defer m.mu.Unlock(); return m.slow })
		p.Send(word)
		until("drawn again", func() bool { return out.has(word) })
	}
	p.Quit()
	if err := <-over; err != nil {
		t.Error(err)
	}
}
