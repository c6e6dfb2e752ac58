package homes

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// What a program of this package meets of the packages below it.
type (
	// Spec says what a session is made with.
	Spec = session.Spec
	// Options are what a caller brings to an opened session; zero fields change nothing.
	Options = session.Options
	// Update is something to show: an event once it is durable, or a delta of a running model call.
	Update = session.Update
	// Recovery is one thing that opening or settling a session found out.
	Recovery = session.Recovery
)

// User is the cause of what a person does. Events have one; see [store.Actor].
var User = store.Actor{Type: store.ActorUser}

// AppEvent is an event of a program's own, which is kept as it is: a namespace, and bytes.
func AppEvent(namespace string, data []byte) session.Body {
	return &session.App{Namespace: namespace, Data: data}
}

// Text is a message's part that is text.
func Text(s string) model.Part { return model.TextPart(s) }

// Create makes a session, in one commit, and returns its id; nobody holds it then. A relative directory is one of the
// process's. What an older session of that id left behind is removed first. Errors: store.ErrExists, store.ErrBadID,
// engine.ErrSpec, ErrNoDir, permission.ErrMode, store.ErrUncertain.
func (h *Home) Create(ctx context.Context, spec Spec) (string, error) {
	if spec.Cwd != "" {
		cwd, err := filepath.Abs(spec.Cwd)
		if err != nil {
			return "", fmt.Errorf("create session %s: %w", spec.ID, err)
		}
		spec.Cwd = cwd
		if err := isThere(cwd); err != nil {
			return "", fmt.Errorf("create session %s: %w", spec.ID, err)
		}
	}
	done, err := h.makeWay(ctx, spec.ID)
	if err != nil {
		return "", fmt.Errorf("create session %s: %w", spec.ID, err)
	}
	defer done()
	begins, err := h.openingOf(ctx, &spec)
	if err != nil {
		return "", fmt.Errorf("create session %s: %w", spec.ID, err)
	}
	id, err := h.eng.Create(ctx, spec)
	if err == nil {
		begins.done(ctx)
	}
	return id, err
}

// Fork makes a session that shares its parent's log up to a seq (0: all of it) and goes its own way, and returns its id
// and where it was forked: a seq at which an act was under way is rounded down. An empty child is given a new id. It is
// what the parent was then, without the grants that were taken back since. It is one commit of the same size whatever
// the parent's length. Errors: store.ErrNotFound, store.ErrExists, store.ErrBadID, store.ErrUncertain.
func (h *Home) Fork(ctx context.Context, parent string, seq int64, child, title string) (id string, at int64, err error) {
	done, err := h.makeWay(ctx, child)
	if err != nil {
		return "", 0, fmt.Errorf("fork session %s: %w", parent, err)
	}
	defer done()
	events, err := h.takenBack(ctx, parent, seq)
	if err != nil {
		return "", 0, fmt.Errorf("fork session %s: %w", parent, err)
	}
	return h.eng.Fork(ctx, parent, seq, child, title, events...)
}

// Takeover frees a session whose holder is declared dead by a human, or was killed where this machine cannot see it. If the
// holder lives after all, it is fenced: its next append fails. Errors: store.ErrNotFound, store.ErrUncertain.
func (h *Home) Takeover(ctx context.Context, id string) error {
	taker, ok := h.store.(store.Taker)
	if !ok {
		return fmt.Errorf("take over session %s: this store cannot take sessions over", id)
	}
	lease, err := taker.Takeover(ctx, id)
	if err != nil {
		return err
	}
	return h.store.Release(ctx, lease)
}

// State computes a session's state as of now, without holding it.
func (h *Home) State(ctx context.Context, id string) (*session.State, error) {
	return h.eng.Load(ctx, id)
}

// Transcript is the conversation of a session as the model sees it, as of a state.
func (h *Home) Transcript(ctx context.Context, st *session.State) (*session.Transcript, error) {
	return h.eng.Transcript(ctx, st)
}

// open takes a session's lease.
func (h *Home) open(ctx context.Context, id string, opt Options) (*engine.Session, error) {
	if err := h.movesSomewhere(ctx, id, opt); err != nil {
		return nil, err
	}
	return h.eng.Open(ctx, id, opt)
}
