package engine

import (
	"context"

	"github.com/perdure/perdure/internal/session"
)

// Documents are what sessions leave outside of their logs, for later ones and for people. They are renderings: what goes
// wrong with them is said, and stops no session.
type Documents interface {
	// Render writes the document of a handoff from what a session knows, with the words of a model, which may be empty.
	Render(ctx context.Context, st *session.State, t *session.Transcript, words string) []byte
	// Put lays a handoff that is in the log where the next session finds it. Whoever dies before it is made up for at the
	// start of that one.
	Put(ctx context.Context, st *session.State, text []byte)
	// Save writes the state file: the plan, what was noted, and what happened outside.
	Save(ctx context.Context, st *session.State)
}

// savedEvery is how many replies of the model there are at most between two writings of the state file.
const savedEvery = 20

// saveDocuments writes the state file when something that it says has changed.
func (s *held) saveDocuments(ctx context.Context, bodies []session.Body) {
	if s.eng.cfg.Documents == nil {
		return
	}
	due := false
	for _, b := range bodies {
		switch b.(type) {
		case *session.PlanSet, *session.PlanEdited, *session.FactAdded, *session.Compacted:
			due = true
		case *session.ModelResponded:
			if s.unsaved++; s.unsaved >= savedEvery {
				due = true
			}
		default:
		}
	}
	if due {
		s.unsaved = 0
		s.eng.cfg.Documents.Save(context.WithoutCancel(ctx), s.state.Copy())
	}
}
