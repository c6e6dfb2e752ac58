package session

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// ErrUnfit says that an event does not fit the state that it would be folded onto: the fold would note a fault and
// drop what it says.
var ErrUnfit = errors.New("does not fit the session")

// Check folds events, as [Chain.Event] sealed them, onto a copy of the state, and returns what does not fit, as an error
// that wraps ErrUnfit. The state stays as it is.
func (s *State) Check(events []store.Event, bodies []Body) error {
	var after *State
	for i, b := range bodies {
		if err := sound(events[i], b); err != nil {
			return err
		}
		if _, plain := b.(*App); plain {
			continue // it changes no state
		}
		if after == nil {
			c := *s
			after = c.own()
			after.Faults, after.Dropped.Faults = nil, 0
		}
		after.ApplyBody(events[i], b)
		if len(after.Faults) > 0 {
			return fmt.Errorf("%w: %s", ErrUnfit, after.Faults[0])
		}
	}
	return nil
}

// CheckNil refuses a body that is no event at all.
func CheckNil(bodies ...Body) error {
	for i, b := range bodies {
		if b == nil || reflect.ValueOf(b).IsNil() {
			return fmt.Errorf("%w: entry %d is nothing: make it by AppEvent or a function beside it", ErrUnfit, i)
		}
	}
	return nil
}

// sound refuses an event that has no cause, or whose body means nothing.
func sound(e store.Event, body Body) error {
	if !slices.Contains([]store.ActorType{store.ActorUser, store.ActorModel, store.ActorTool, store.ActorEngine, store.ActorImport}, e.Actor.Type) {
		return fmt.Errorf("%w: %q is no cause of events: an actor's type is user, model, tool, engine or import", ErrUnfit, e.Actor.Type)
	}
	return Sound(body)
}

// Sound refuses a body that the fold takes, but that means nothing, by an error that wraps ErrUnfit.
func Sound(body Body) error {
	switch b := body.(type) {
	case *MessageReceived:
		if Blank(b.Content) {
			return fmt.Errorf("%w: a message without words", ErrUnfit)
		}
	case *FactAdded:
		return soundFact(b.Fact)
	case *App:
		if b.Namespace == "" {
			return fmt.Errorf("%w: an app event without a namespace", ErrUnfit)
		}
	case *Unknown:
		return fmt.Errorf("%w: its kind is not known", ErrUnfit)
	default:
	}
	return nil
}

// soundFact refuses a fact that nothing would find, or that says nothing.
func soundFact(f Fact) error {
	switch {
	case !slices.Contains([]string{"fact", "decision", "finding", "failed_approach", "constraint"}, f.Kind):
		return fmt.Errorf("%w: no fact is of kind %q: kinds are fact, decision, finding, failed_approach and constraint", ErrUnfit, f.Kind)
	case !slices.Contains([]string{"user", "tool", "model", "import"}, f.Provenance):
		return fmt.Errorf("%w: no fact comes from %q: provenances are user, tool, model and import", ErrUnfit, f.Provenance)
	case blank([]byte(f.Text)):
		return fmt.Errorf("%w: a fact without words", ErrUnfit)
	}
	return nil
}

// Blank reports whether a message says nothing: it has no image and no document, and its text is empty or white space.
// APIs refuse such a message, for ever.
func Blank(parts []model.Part) bool {
	for _, p := range parts {
		if p.Type != model.BlockText && len(p.Data) > 0 || p.Type == model.BlockText && !blank(p.Data) {
			return false
		}
	}
	return true
}

func blank(text []byte) bool {
	return strings.TrimFunc(string(text), func(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' || r == '\ufeff' || r == 0 }) == ""
}
