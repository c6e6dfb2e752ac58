package pace

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"testing/synctest"
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

// A key is drawn well before a whole frame has passed, also on a screen that was slow before; other messages keep their
// pace, and soon after the key that pace is back.
func TestAKeyDoesNotWaitForAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &model{in: text{}, looked: true, ticker: time.NewTicker(time.Second / fps)}
		defer m.ticker.Stop()
		next := func() time.Duration {
			began := time.Now()
			<-m.ticker.C
			return time.Since(began)
		}
		m.Update("word")
		if got := next(); got != time.Second/fps {
			t.Errorf("a message waits %v", got)
		}
		for _, pause := range []time.Duration{time.Millisecond, time.Second} {
			<-time.After(pause)
			select { // what it looked at meanwhile
			case <-m.ticker.C:
			default:
			}
			m.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
			if got := next(); got > keyWithin {
				t.Errorf("%v after another one, a key waits %v", pause, got)
			}
			<-time.After(time.Second / fps)
			<-m.ticker.C
			if got := next(); got != time.Second/fps {
				t.Errorf("soon after a key it looks every %v", got)
			}
		}
		<-time.After(2 * idleAfter)
		<-m.ticker.C
		if got := next(); got != idleEvery {
			t.Errorf("an idle screen looks every %v", got)
		}
	})
}

// keys tells what was pressed.
type keys struct {
	text
	pressed chan string
}

func (m keys) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		m.pressed <- k.String()
	}
	return m, nil
}

// Goal: esc that is pressed twice so quickly that a terminal's bytes read as one key with alt is esc twice: else it
// does nothing, on every page and for every question.
func TestEscTwiceInOneReadIsEscTwice(t *testing.T) {
	pressed := make(chan string, 100)
	in, typed := io.Pipe()
	p := New(keys{pressed: pressed}, tea.WithInput(in), tea.WithOutput(&shown{}), tea.WithWindowSize(40, 5), tea.WithContext(t.Context()), tea.WithoutSignals())
	over := make(chan error, 1)
	go func() {
		_, err := p.Run()
		over <- err
	}()
	for _, c := range []struct {
		bytes string
		want  []string
	}{{"a", []string{"a"}}, {"\x1b\x1b", []string{"esc", "esc"}}, {"b", []string{"b"}}, {"\x1bc", []string{"alt+c"}}} {
		if _, err := typed.Write([]byte(c.bytes)); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			select {
			case got := <-pressed:
				if got != want {
					t.Errorf("%q is %q, want %q", c.bytes, got, c.want)
				}
			case <-time.After(10 * time.Second):
				t.Fatalf("%q is no %q", c.bytes, c.want)
			}
		}
	}
	p.Quit()
	if err := <-over; err != nil {
		t.Fatal(err)
	}
	_ = typed.Close()
}
