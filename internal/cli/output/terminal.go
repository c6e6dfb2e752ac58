package output

import (
	"os"

	"golang.org/x/term"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/live"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// terminal shows a run on a terminal.
type terminal struct {
	view    *live.View
	replies int  // of the model, that this run has seen
	shown   bool // what an earlier process left of the open turn's words
}

func newTerminal(a *app.App, prompt string) *terminal {
	return &terminal{view: live.New(live.Config{
		Out: a.Stdout, Width: func() int { return columns(a) }, Colour: colour(a), Now: a.Now, Prompt: prompt, Dir: a.Dir,
	})}
}

func (s *terminal) Opened(st *session.State, _ bool, words func(int64) string) {
	s.view.Opened(st, words)
}

func (s *terminal) Observe(u engine.Update) {
	if u.Event == nil {
		s.view.Delta(u.Act, u.Kind, u.Text)
		return
	}
	if b, ok := u.Body.(*session.ModelResponded); ok && !session.ForSummary(b.Act) {
		s.replies++
	}
	s.view.Event(*u.Event, u.Body)
}

func (s *terminal) TurnEnded(t view.Turn) {
	if s.replies == 0 && !s.shown {
		s.view.Say(t.Result)
	}
	s.shown = true
}

func (s *terminal) Asleep(*view.Result) { s.view.Rest() }

func (s *terminal) Result(*view.Result) { s.view.Rest() }

// columns is the width of the terminal on stdout, in cells; 0 if there is none.
func columns(a *app.App) int {
	f, ok := app.Underneath(a.Stdout).(*os.File)
	if !ok {
		return 0
	}
	cols, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return cols
}

// colour reports whether stdout is a terminal that is to be written to in colours: https://no-color.org.
func colour(a *app.App) bool {
	return a.Coloured()
}
