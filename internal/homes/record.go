package homes

import (
	"context"
	"errors"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Recorder keeps the session of an agent of one's own: it appends what was said and done, and runs nothing. What it
// records is a conversation like any other: it can be shown, searched and forked at any of its events, and [Home.Run] and
// [Home.Hold] go on from it. Each call is one commit. It is used by one goroutine at a time. Close it.
type Recorder struct{ s *engine.Session }

// Record takes a session's lease for an agent of one's own. A session that is not there is made, in the process's
// directory; an empty id is a new one. Errors: *store.HeldError, *store.CorruptError, store.ErrBadID,
// store.ErrUncertain.
func (h *Home) Record(ctx context.Context, id string) (*Recorder, error) {
	s, err := (*engine.Session)(nil), store.ErrNotFound
	if id != "" {
		s, err = h.open(ctx, id, Options{})
	}
	if errors.Is(err, store.ErrNotFound) {
		if id, err = h.Create(ctx, Spec{ID: id, Cwd: "."}); err == nil {
			s, err = h.open(ctx, id, Options{})
		}
	}
	if err != nil {
		return nil, err
	}
	return &Recorder{s}, nil
}

// ID is the session's id.
func (r *Recorder) ID() string { return r.s.State().ID }

// User records what the user said, as a turn of its own. Errors: session.ErrUnfit if the model still has to reply, or
// calls wait for their results.
func (r *Recorder) User(ctx context.Context, parts ...model.Part) (store.Head, error) {
	return r.s.RecordUser(ctx, parts...)
}

// Assistant records a reply of a provider's model: text, thinking and calls in order. The provider's own bytes of a block,
// if Raw has them, are kept and go back to it as they came. Errors: session.ErrUnfit if nobody has spoken before it, or
// calls wait for their results.
func (r *Recorder) Assistant(ctx context.Context, provider string, reply *modelapi.Response) (store.Head, error) {
	return r.s.RecordReply(ctx, provider, reply)
}

// ToolResult records what became of a call that the newest reply makes, by the id that the reply gives it. Errors:
// session.ErrUnfit if no such call waits.
func (r *Recorder) ToolResult(ctx context.Context, callID string, isError bool, parts ...model.Part) (store.Head, error) {
	return r.s.RecordResult(ctx, callID, isError, parts...)
}

// Append adds other events: app events, facts, the plan, scratch state. Errors: session.ErrUnfit.
func (r *Recorder) Append(ctx context.Context, actor store.Actor, bodies ...session.Body) (store.Head, error) {
	err := r.s.Append(ctx, actor, bodies...)
	return r.s.Head(), err
}

// Messages is the conversation as a model's next request would hold it.
func (r *Recorder) Messages(ctx context.Context) ([]model.Message, error) {
	t, err := r.s.Transcript(ctx)
	if err != nil {
		return nil, err
	}
	return t.Upcoming(), nil
}

// State is the session as of the newest call; it must only be read.
func (r *Recorder) State() *session.State { return r.s.State() }

// Close gives the session back. It may be called again.
func (r *Recorder) Close() error { return r.s.Close(context.Background(), "done") }
