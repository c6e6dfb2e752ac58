package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// ErrNoImport says that a home's store cannot take sessions of other homes.
var ErrNoImport = errors.New("this store cannot import sessions")

// maxEpoch bounds the epoch of a log from elsewhere: those that follow it have to be countable.
const maxEpoch = 1 << 40

// Incoming is a session whose log was written in another home.
type Incoming struct {
	State *session.State // the fold of the log; it goes one event further
	Past  iter.Seq2[store.Event, error]
	Bytes int64 // of the bodies in it
	Body  *session.Imported
	Here  *store.Head // where its log ends here, if it is in the store: Past begins behind it
}

// Import stores sessions with their logs as they were, and session.imported after each, in one commit: they are there
// then, or none is. Nobody holds them. Errors: ErrNoImport, and those of [store.Importer].
func (e *Engine) Import(ctx context.Context, all ...Incoming) error {
	importer, ok := e.cfg.Store.(store.Importer)
	if !ok {
		return ErrNoImport
	}
	list := make([]store.Imported, len(all))
	for i, in := range all {
		st := in.State
		switch {
		case st.ReadOnly != "":
			return fmt.Errorf("import session %s: %w: %s", st.ID, store.ErrNewer, st.ReadOnly)
		case st.Epoch < 0 || st.Epoch > maxEpoch:
			return fmt.Errorf("import session %s: %w: its epoch is %d", st.ID, store.ErrConflict, st.Epoch)
		}
		events, err := e.seal(st, []store.Actor{{Type: store.ActorImport}}, []session.Body{in.Body}, false)
		if err != nil {
			return fmt.Errorf("import session %s: %w", st.ID, err)
		}
		st.ApplyBody(events[0], in.Body)
		heads := Heads(st)
		heads.Extra = listedOf(st, st.Head.Seq, st.Updated)
		list[i] = store.Imported{
			NewSession: store.NewSession{ID: st.ID, Owner: st.Owner, Created: st.Created, Parent: st.Parent, Heads: heads, Events: events},
			Past:       in.Past, Bytes: in.Bytes, Epoch: st.Epoch, Here: in.Here,
		}
	}
	return importer.Import(ctx, list...)
}
