package perdure

import (
	"context"
	"iter"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// Agent is the definition that a session is made from. The session keeps a copy: System and Tools are frozen, since they
// are part of every request's prefix. [Home.Agent] makes one.
type Agent struct {
	Name       string
	Version    string
	Provider   string
	Model      string
	System     string
	Tools      []byte // JSON array as sent to the model; empty: the home's tools
	MaxTokens  int64
	Window     int64        // context window in tokens; 0 is unknown
	Price      *model.Price // nil is unknown
	APIVersion string
	Betas      []string
	Thinking   int64 // tokens
}

// Spec says what a session is made with.
type Spec struct {
	ID     string // letters, digits and . _ -, up to 128, beginning with a letter or digit; empty: a new one
	Owner  string
	Title  string
	Labels map[string]string
	Agent  Agent
	Mode   string         // plan, default or acceptEdits, see [Options]; empty: default
	Cwd    string         // empty only if nothing works in it
	Dirs   []string       // absolute
	Fresh  bool           // what an earlier session in the directory left, its handoff and plan, is not read
	Events []Entry        // of a program's own, that come after the first in the same commit
	Shared []store.Shared // values to set in the same commit, see [Home.Shared]
}

// Agent fills in what is known of a model: PROVIDER/MODEL, or empty for what the environment configures. The providers are
// anthropic, openai, ollama and scripted (a file that is played), or what Config.Provider knows.
func (h *Home) Agent(ctx context.Context, spec string) (Agent, error) {
	a, err := h.in.Agent(ctx, spec)
	return Agent(a), err
}

// Create makes a session, in one commit, and returns its id; nobody holds it then. A relative directory is one of the
// process's. What an older session of that id left behind is removed first. Errors: store.ErrExists, store.ErrBadID,
// ErrInvalid, store.ErrUncertain.
func (h *Home) Create(ctx context.Context, spec Spec) (string, error) {
	return h.in.Create(ctx, homes.Spec{
		ID: spec.ID, Owner: spec.Owner, Title: spec.Title, Labels: spec.Labels, Agent: session.Agent(spec.Agent),
		Mode: session.Mode(spec.Mode), Cwd: spec.Cwd, Dirs: spec.Dirs, Fresh: spec.Fresh, Events: bodiesOf(spec.Events), Shared: spec.Shared,
	})
}

// Fork makes a session that shares its parent's log up to a seq (0: all of it) and goes its own way, and returns its id
// and where it was forked: a seq at which an act was under way is rounded down. An empty child is given a new id. It is
// what the parent was then, without the grants that were taken back since. It is one commit of the same size whatever
// the parent's length. Errors: store.ErrNotFound, store.ErrExists, store.ErrBadID, store.ErrUncertain.
func (h *Home) Fork(ctx context.Context, parent string, seq int64, child, title string) (id string, at int64, err error) {
	return h.in.Fork(ctx, parent, seq, child, title)
}

// View looks at a session without holding it. The whole of it has the conversation too, and acts, decisions, files and
// tasks from all of the log: what the state's bounds dropped comes back. Errors: store.ErrNotFound, *store.CorruptError.
func (h *Home) View(ctx context.Context, id string, whole bool) (*view.Session, error) {
	return h.in.View(ctx, id, homes.ViewOptions{Messages: whole, All: whole})
}

// Messages is a session's conversation as a model's next request would hold it.
func (h *Home) Messages(ctx context.Context, id string) ([]model.Message, error) {
	st, err := h.in.State(ctx, id)
	if err != nil {
		return nil, err
	}
	t, err := h.in.Transcript(ctx, st)
	if err != nil {
		return nil, err
	}
	return t.Upcoming(), nil
}

// Context shows what the next request to a session's model holds, with the tokens of each part. Errors: store.ErrNotFound.
func (h *Home) Context(ctx context.Context, id string) (*view.Context, error) {
	return h.in.Context(ctx, id)
}

// List yields the home's sessions that a query selects, the newest first; at most its Limit, if that is positive, and
// its After is ignored. The query's Activity is idle, running, waiting, stopped, failed, parked, interrupted or asleep,
// as of now; its OrHeld is ignored. A session that is being deleted, or that cannot be read, is listed as its row has
// it.
func (h *Home) List(ctx context.Context, q store.Query) iter.Seq2[view.Listing, error] {
	return func(yield func(view.Listing, error) bool) {
		most := q.Limit
		q.Limit, q.After = 0, ""
		for n := 0; ; {
			page, err := h.in.List(ctx, q)
			if err != nil {
				yield(view.Listing{}, err)
				return
			}
			for _, l := range page.Sessions {
				if n == most && most > 0 || !yield(l, nil) {
					return
				}
				n++
			}
			if q.After = page.Next; q.After == "" {
				return
			}
		}
	}
}

// Takeover frees a session whose holder is declared dead by a human, or was killed where this machine cannot see it. If the
// holder lives after all, it is fenced: its next append fails. Errors: store.ErrNotFound, store.ErrUncertain.
func (h *Home) Takeover(ctx context.Context, id string) error { return h.in.Takeover(ctx, id) }

// Delete removes sessions for good, and with them what they left in the home: their commands that still run are ended,
// their outputs and directories go, and what the store held of them is overwritten and its space given back. A session
// that is to go with its forks is named beside them.
//
// Before anything is removed, the plan is durable: if this process dies in the middle, the next one that opens the home
// finishes it. Errors: store.ErrNotFound, *store.HeldError and *store.ChildrenError, all of them before anything is
// removed; after others the next opening goes on too.
func (h *Home) Delete(ctx context.Context, ids ...string) error { return h.in.Delete(ctx, ids...) }

// Verify checks a session from its first event: that every event follows from the one before it, that every body is
// what its digest says, that the log folds without faults, that the state from snapshots equals the one from the log,
// that a fork's parent still has the events it was forked from, and that what is listed of the session was so at some
// event. It returns the faults, none if all is well.
func (h *Home) Verify(ctx context.Context, id string) ([]string, error) { return h.in.Verify(ctx, id) }
