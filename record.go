package perdure

import (
	"context"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Recorder keeps the session of an agent of one's own: it appends what was said and done, and runs nothing. A turn is
// User, then Assistant; and as long as a reply makes calls, a ToolResult for each of them and the next Assistant. Each
// call is one commit. What was recorded is a conversation like any other: it can be shown, searched and forked at any of
// its events, and [Home.Run] and [Home.Hold] go on from it.
//
// An agent that is started again asks [Home.Messages], which is the conversation as the next request would hold it,
// with an error as the result of each call that has none yet: the newest message says what is due, and of a call whose
// effect may have happened ToolResult says so. A Recorder is used by one goroutine at a time. Close it.
type Recorder struct{ in *homes.Recorder }

// Record takes a session's lease for an agent of one's own. A session that is not there is made, in the process's
// directory. Errors: *store.HeldError, *store.CorruptError, store.ErrBadID,
// store.ErrUncertain.
func (h *Home) Record(ctx context.Context, id string) (*Recorder, error) {
	if err := store.CheckID(id); err != nil {
		return nil, err
	}
	r, err := h.in.Record(ctx, id)
	if err != nil {
		return nil, err
	}
	return &Recorder{r}, nil
}

// User records what the user said, as a turn of its own: a text, and parts that follow it, such as images. Errors: ErrUnfit
// if the model still has to reply, or calls wait for their results.
func (r *Recorder) User(ctx context.Context, text string, more ...model.Part) (store.Head, error) {
	return r.in.User(ctx, parts(text, more)...)
}

// parts puts a text before other parts; an empty one is none, if there are others.
func parts(text string, more []model.Part) []model.Part {
	if text == "" && len(more) > 0 {
		return more
	}
	return append([]model.Part{model.TextPart(text)}, more...)
}

// Assistant records a reply of a provider's model: text, thinking and calls in order. The provider's own bytes of a block,
// if Raw has them, are kept and go back to it as they came; a call needs an ID of its own. Errors: ErrUnfit if nobody has
// spoken before it, calls wait for their results, or a block is none that a model would take back.
func (r *Recorder) Assistant(ctx context.Context, provider string, reply *modelapi.Response) (store.Head, error) {
	return r.in.Assistant(ctx, provider, reply)
}

// ToolResult records what became of a call that the newest reply makes, by the id that the reply gives it. Errors:
// ErrUnfit if no such call waits.
func (r *Recorder) ToolResult(ctx context.Context, callID string, isError bool, text string, more ...model.Part) (store.Head, error) {
	return r.in.ToolResult(ctx, callID, isError, parts(text, more)...)
}

// Append adds other entries: app events, facts, the plan, scratch state. Errors: ErrUnfit.
func (r *Recorder) Append(ctx context.Context, actor store.Actor, entries ...Entry) (store.Head, error) {
	return r.in.Append(ctx, actor, bodiesOf(entries)...)
}

// Close gives the session back. It may be called again.
func (r *Recorder) Close() error { return r.in.Close() }
