package app_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/progress"
)

// pane is a terminal that keeps all that was written to it, and shows the line that the cursor is in.
type pane struct {
	mu  sync.Mutex
	all strings.Builder
}

func (p *pane) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all.Write(b)
}

func (p *pane) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all.String()
}

// line is what stands in the cursor's line.
func (p *pane) line() string {
	all := p.String()
	all = all[strings.LastIndexByte(all, '\n')+1:]
	return all[strings.LastIndex(all, "\r\x1b[K")+1:]
}

func shown(p *pane) string { return strings.TrimPrefix(p.line(), "\x1b[K") }

// watched is a world whose work is told, on a terminal or, with none, by notes.
func watched(terminal bool) (*app.App, *pane, *progress.Meter) {
	p := &pane{}
	a := &app.App{Stderr: p, Stdout: p, Now: time.Now}
	if terminal {
		a.Line = p
	}
	return a, p, app.Tells(a)
}

func after(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // of a bubble's clock
	synctest.Wait()
}

// On a terminal work that takes longer than a second has one line, which is renewed and goes with the work.
func TestLongWorkHasALineThatGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, m := watched(true)
		w := m.Begin("restoring files", "")
		w.Set(1, 9)
		after(990 * time.Millisecond)
		if p.String() != "" {
			t.Errorf("within the first second: %q", p)
		}
		after(20 * time.Millisecond)
		if shown(p) != "perdure: restoring files: 1 of 9" {
			t.Errorf("after a second: %q", shown(p))
		}
		before := len(p.String())
		after(2 * time.Second)
		if len(p.String()) != before {
			t.Errorf("what has not moved was written again: %q", p)
		}
		w.Set(5, 9)
		after(250 * time.Millisecond)
		if shown(p) != "perdure: restoring files: 5 of 9" {
			t.Errorf("when it has moved: %q", shown(p))
		}
		w.End()
		if shown(p) != "" || strings.Contains(p.String(), "\n") {
			t.Errorf("after its end: %q", p)
		}
		after(10 * time.Second)
		if shown(p) != "" {
			t.Errorf("long after its end: %q", p)
		}
	})
}

// Pieces of work that follow each other are one wait.
func TestOneWaitOfManyPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, m := watched(true)
		for range 3 {
			w := m.Begin("piece", "")
			after(400 * time.Millisecond)
			w.End()
		}
		if !strings.Contains(p.String(), "piece") {
			t.Errorf("after 1.2 seconds of work: %q", p)
		}
		before := len(p.String())
		after(5 * time.Second)
		w := m.Begin("another", "")
		after(900 * time.Millisecond)
		w.End()
		if len(p.String()) != before {
			t.Errorf("a short one long after it is told: %q", p)
		}
	})
}

// Without a terminal there is a line that stays, every five seconds at most, and none with a control character.
func TestLongWorkIsNotedWithoutATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, m := watched(false)
		w := m.Begin("restoring files", "")
		for range 12 {
			after(time.Second)
			w.Add(1, 0)
		}
		w.End()
		if got := p.String(); got != "perdure: restoring files: 4\nperdure: restoring files: 9\n" && got != "perdure: restoring files: 5\nperdure: restoring files: 10\n" {
			t.Errorf("noted %q", got)
		}
	})
}

// What is said meanwhile stands on lines of its own.
func TestLineMakesRoomForWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, p, m := watched(true)
		w := m.Begin("sweeping", "")
		after(1100 * time.Millisecond)
		a.Note("a warning")
		after(300 * time.Millisecond)
		a.Linef("a result")
		w.End()
		want := "\r\x1b[Kperdure: sweeping\r\x1b[Kperdure: a warning\n\r\x1b[Kperdure: sweeping\r\x1b[Ka result\n"
		if p.String() != want {
			t.Errorf("written %q, want %q", p, want)
		}
	})
}

// While something else draws there is no line.
func TestLineKeepsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, p, m := watched(true)
		w := m.Begin("sweeping", "")
		after(1100 * time.Millisecond)
		over := a.Undisturbed()
		if shown(p) != "" {
			t.Errorf("it stands in the way: %q", p)
		}
		w.Add(1, 0)
		after(3 * time.Second)
		if shown(p) != "" {
			t.Errorf("it came back: %q", p)
		}
		over()
		over()
		after(300 * time.Millisecond)
		if shown(p) != "perdure: sweeping: 1" {
			t.Errorf("when the other is done: %q", shown(p))
		}
		w.End()
	})
}

// The line is never wider than the terminal, so that it can be taken away.
func TestLineFitsTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, p, m := watched(true)
		w := m.Begin("looking at "+strings.Repeat("很", 100)+"\x1b[31m\nfiles", "")
		after(1100 * time.Millisecond)
		if n := ansi.StringWidth(shown(p)); n > 79 || n < 70 || strings.Contains(shown(p), "\x1b[31m") {
			t.Errorf("it has %d cells: %q", n, shown(p))
		}
		w.End()
	})
}
