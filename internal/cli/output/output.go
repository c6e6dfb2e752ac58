// Package output writes a run to stdout, in the shape that was asked for.
package output

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/perdure/perdure/internal/cli/app"
	"github.com/perdure/perdure/internal/cli/display"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/view"
)

// Shape is a form of what a run writes on stdout. Its methods are called one at a time, in the order in which things
// happen; a closed stdout is no reason to lose the session, so none of them fails.
type Shape interface {
	// Opened comes first, but for the events of opening; words are those of a message in the log, by its seq.
	Opened(st *session.State, resumed bool, words func(seq int64) string)
	Observe(u engine.Update)
	TurnEnded(t view.Turn)
	Asleep(r *view.Result)
	Result(r *view.Result)
}

// The values of --output-format.
const (
	Text   = "text"
	JSON   = "json"
	Stream = "stream-json"
	Claude = "claude-stream-json"
)

// Formats are all of them.
var Formats = []string{Text, JSON, Stream, Claude}

// New gives the shape of a format; verbose is the tool descriptions and the system prompt in a stream, too. On a terminal,
// text is a live view that shows the prompt.
func New(a *app.App, format string, verbose bool, prompt string) Shape {
	switch format {
	case JSON:
		return &outcome{enc: display.Encoder(a.Stdout)}
	case Stream:
		return &stream{enc: display.Encoder(a.Stdout), verbose: verbose}
	case Claude:
		return newClaude(display.Encoder(a.Stdout))
	}
	if a.Screen {
		return newTerminal(a, prompt)
	}
	return &text{app: a, printed: -1}
}

// silent is a shape that writes nothing.
type silent struct{}

func (silent) Opened(*session.State, bool, func(int64) string) {}
func (silent) Observe(engine.Update)                           {}
func (silent) TurnEnded(view.Turn)                             {}
func (silent) Asleep(*view.Result)                             {}
func (silent) Result(*view.Result)                             {}

// outcome writes the outcome as one object.
type outcome struct {
	silent
	enc *json.Encoder
}

func (s *outcome) Result(r *view.Result) { _ = s.enc.Encode(r) }

// text writes what the model said: each answer once, as soon as its turn ends or the run goes to sleep or stops in
// it, a blank line between two of them.
type text struct {
	silent
	app     *app.App
	replies int // of the model, that this run has seen
	printed int // how many of them were there when an answer was printed last; -1: none was
	answers int // printed
}

func (s *text) Observe(u engine.Update) {
	if b, ok := u.Body.(*session.ModelResponded); ok && !session.ForSummary(b.Act) {
		s.replies++
	}
}

func (s *text) TurnEnded(t view.Turn) {
	if s.replies > s.printed {
		s.answer(t.Result)
	}
}

// asleep prints what the model said in a turn that is left open, if that is new.
func (s *text) Asleep(r *view.Result) {
	if s.replies > max(s.printed, 0) {
		s.answer(r.Result)
	}
}

func (s *text) Result(r *view.Result) { s.Asleep(r) }

func (s *text) answer(text string) {
	if text = strings.TrimRightFunc(text, unicode.IsSpace); text == "" {
		return
	}
	if s.answers > 0 {
		s.app.Linef("")
	}
	s.app.Linef("%s", display.Safe(text))
	s.answers++
	s.printed = s.replies
}
