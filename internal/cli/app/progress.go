package app

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/progress"
)

// How long somebody waits in silence, and how often he is told then: on a terminal by a line that is renewed, elsewhere by
// lines that stay.
const (
	lineAfter, lineEvery = time.Second, 200 * time.Millisecond
	noteAfter, noteEvery = 5 * time.Second, 5 * time.Second
)

// defaultColumns is the width of a terminal that does not tell.
const defaultColumns = 80

// teller tells whoever waits how far work is. It does nothing as long as there is none.
type teller struct {
	app   *App
	line  io.Writer // where the line is; nil: there is none
	meter *progress.Meter

	mu    sync.Mutex
	timer *time.Timer
	works bool // there is work
	stops bool // a signal has come: what works ends, which may take a moment
	muted int
	shown bool // the line has something
	said  string
}

// tells gives the meter of a home that is opened for this world, which tells on stderr what takes long.
func (a *App) tells() *progress.Meter {
	if a.telling != nil {
		return a.telling.meter
	}
	t := &teller{app: a}
	if a.Line != nil && a.Getenv("TERM") != "dumb" {
		t.line = a.Line
	}
	t.meter = &progress.Meter{}
	t.meter.Listen(progress.Listener{Began: t.began, Ended: t.over})
	a.telling = t
	return t.meter
}

// Undisturbed keeps the line that tells how far work is away, for as long as something else draws on the terminal.
func (a *App) Undisturbed() (over func()) {
	t := a.telling
	if t == nil {
		return func() {}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.muted++
	t.wipe()
	var once sync.Once
	return func() {
		once.Do(func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.muted--
		})
	}
}

// apart writes to stderr, or to a screen, what the line must not be mixed with.
func (a *App) apart(write func()) {
	if t := a.telling; t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.wipe()
	}
	write()
}

// stopping has the line say that a signal has come.
func (a *App) stopping() {
	if t := a.telling; t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.stops, t.said = true, ""
	}
}

func (t *teller) began(since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.works = true
	after := noteAfter
	if t.line != nil {
		after = lineAfter
	}
	after = max(after-time.Since(since), lineEvery)
	if t.timer == nil {
		t.timer = time.AfterFunc(after, t.tell)
	} else {
		t.timer.Reset(after)
	}
}

func (t *teller) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer.Stop()
	t.works = false
	t.wipe()
}

// tell says how far it is, and comes again.
func (t *teller) tell() {
	s, _ := t.meter.Now() // before the lock: whoever begins or ends has that of the meter
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.works {
		return
	}
	text := s.String()
	every := noteEvery
	if t.line != nil {
		every = lineEvery
	}
	t.timer.Reset(every)
	if t.muted > 0 || text == t.said {
		return
	}
	t.said = text
	if t.stops {
		text = "stopping: " + text
	}
	if t.line == nil {
		t.app.note(text)
		return
	}
	text = ansi.Truncate("perdure: "+display.Safe(text), max(t.columns()-1, 1), "…")
	_, _ = io.WriteString(t.line, "\r"+ansi.EraseLineRight+text)
	t.shown = true
}

// columns are those of the terminal that the line is on.
func (t *teller) columns() int {
	if f, ok := t.line.(*os.File); ok {
		if c, _, err := term.GetSize(int(f.Fd())); err == nil && c > 0 {
			return c
		}
	}
	return defaultColumns
}

// wipe takes the line away.
func (t *teller) wipe() {
	if t.shown {
		_, _ = io.WriteString(t.line, "\r"+ansi.EraseLineRight)
		t.shown, t.said = false, ""
	}
}
