package run

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

// shape is a form of what a run writes on stdout. Its methods are called one at a time, in the order in which things
// happen; a closed stdout is no reason to lose the session, so none of them fails.
type shape interface {
	// opened comes first, but for the events of opening; words are those of a message in the log, by its seq.
	opened(st *session.State, resumed bool, words func(seq int64) string)
	observe(u engine.Update)
	turnEnded(t view.Turn)
	asleep(r *view.Result)
	result(r *view.Result)
}

// shapes are the values of --output-format.
var shapes = []string{"text", "json", "stream-json", "claude-stream-json"}

func shapeOf(a *app.App, f *Flags, prompt string) shape {
	switch f.format {
	case "json":
		return &jsonShape{enc: display.Encoder(a.Stdout)}
	case "stream-json":
		return &streamShape{enc: display.Encoder(a.Stdout), verbose: f.verbose}
	case "claude-stream-json":
		return newClaudeShape(display.Encoder(a.Stdout))
	}
	if a.Screen {
		return newLiveShape(a, prompt)
	}
	return &textShape{app: a, printed: -1}
}

// silent is a shape that writes nothing.
type silent struct{}

func (silent) opened(*session.State, bool, func(int64) string) {}
func (silent) observe(engine.Update)                           {}
func (silent) turnEnded(view.Turn)                             {}
func (silent) asleep(*view.Result)                             {}
func (silent) result(*view.Result)                             {}

// jsonShape writes the outcome as one object.
type jsonShape struct {
	silent
	enc *json.Encoder
}

func (s *jsonShape) result(r *view.Result) { _ = s.enc.Encode(r) }

// textShape writes what the model said: each answer once, as soon as its turn ends or the run goes to sleep or stops in
// it, a blank line between two of them.
type textShape struct {
	silent
	app     *app.App
	replies int // of the model, that this run has seen
	printed int // how many of them were there when an answer was printed last; -1: none was
	answers int // printed
}

func (s *textShape) observe(u engine.Update) {
	if b, ok := u.Body.(*session.ModelResponded); ok && !session.ForSummary(b.Act) {
		s.replies++
	}
}

func (s *textShape) turnEnded(t view.Turn) {
	if s.replies > s.printed {
		s.answer(t.Result)
	}
}

// asleep prints what the model said in a turn that is left open, if that is new.
func (s *textShape) asleep(r *view.Result) {
	if s.replies > max(s.printed, 0) {
		s.answer(r.Result)
	}
}

func (s *textShape) result(r *view.Result) { s.asleep(r) }

func (s *textShape) answer(text string) {
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
