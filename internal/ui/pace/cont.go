package pace

import (
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// continued tells that the process goes on after somebody else has stopped it.
type continued struct{}

// conts has the terminal made ready again when the process goes on: whoever stopped it from outside has given the terminal
// to a shell, which leaves it as a shell needs it. A suspension of bubbletea's own does that by itself.
type conts struct {
	own atomic.Bool // suspended by a key
}

// watch listens for as long as the program runs.
func (c *conts) watch(p *tea.Program) {
	if len(goesOn) == 0 { // of none, all would be listened for
		return
	}
	sig := make(chan os.Signal, 1)
	signal.Notify(sig, goesOn...)
	over := make(chan struct{})
	go func() { defer close(over); p.Wait() }()
	go func() {
		defer signal.Stop(sig)
		for {
			select {
			case <-over:
				return
			case <-sig:
				if !c.own.Load() {
					p.Send(continued{})
				}
			}
		}
	}()
}

// filter hears every message.
func (c *conts) filter(msg tea.Msg) {
	switch msg.(type) {
	case tea.SuspendMsg:
		c.own.Store(true)
	case tea.ResumeMsg:
		c.own.Store(false)
	}
}

// Lent is how long the terminal is lent out at least. The clock of bubbletea's frames is stopped by another goroutine than
// the one that starts it again: if that came first, no frame would be drawn any more.
const Lent = 200 * time.Millisecond

// ready gives the terminal back and takes it again: that sets all of its modes, and draws all of the screen.
func ready() tea.Cmd { return tea.Exec(nothing{}, nil) }

type nothing struct{}

func (nothing) Run() error { <-time.After(Lent); return nil }

func (nothing) SetStdin(io.Reader)  {}
func (nothing) SetStdout(io.Writer) {}
func (nothing) SetStderr(io.Writer) {}
