package perdure

import (
	"context"
	"iter"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Event is an event of a log as programs read it. Its JSON is a line of `perdure log --json`.
type Event struct {
	Seq   int64       `json:"seq"`
	Time  string      `json:"time"` // RFC 3339 in UTC, with milliseconds
	Kind  string      `json:"kind"` // as in tool.finished; docs/stream-json.md has all of them
	Actor store.Actor `json:"actor"`
	// Body marshals to what happened: an object whose fields go by the kind. Bytes that are no text stand under a name with
	// _base64 added; an erased body is {"erased": true}, and one that cannot be read says why in "error".
	Body any    `json:"body"`
	Hash string `json:"hash"`

	body session.Body
}

// App gives what [AppEvent] made the event of; not ok: it is another kind.
func (e Event) App() (namespace string, data []byte, ok bool) {
	app, ok := e.body.(*session.App)
	if !ok {
		return "", nil, false
	}
	return app.Namespace, app.Data, true
}

func eventOf(ev store.Event, body session.Body) Event {
	if body == nil {
		body, _ = session.Decode(ev) // the view says what is wrong
	}
	l := session.EventView(ev, body)
	return Event{Seq: l.Seq, Time: l.Time, Kind: string(l.Kind), Actor: l.Actor, Body: l.Body, Hash: l.Hash.String(), body: body}
}

// Range selects events of a session's own log. The zero value is all of them.
type Range struct {
	After   int64    // only those with a greater seq
	Through int64    // only those up to this seq; 0: the head
	Kinds   []string // only these; none: all
	Last    int      // of what the others select, the newest so many; 0: all
	Reverse bool     // the newest first
}

// Events yields the events of a session's own log that r selects, in order. A fork has its ancestors' in theirs, up to
// where it was forked: view.Session.Parent says which. What is asked for from the end is read from there, whatever the
// log's length. It ends with its first error: store.ErrNotFound, *store.CorruptError, of ctx.
func (h *Home) Events(ctx context.Context, id string, r Range) iter.Seq2[Event, error] {
	kinds := make([]store.Kind, len(r.Kinds))
	for i, k := range r.Kinds {
		kinds[i] = store.Kind(k)
	}
	return decoded(h.in.Range(ctx, id, homes.Range{After: r.After, Through: r.Through, Kinds: kinds, Last: r.Last, Reverse: r.Reverse}))
}

func decoded(events iter.Seq2[store.Event, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for ev, err := range events {
			if err != nil {
				yield(Event{}, err)
				return
			}
			if !yield(eventOf(ev, nil), nil) {
				return
			}
		}
	}
}

// Update is something to show: an event once it is durable, or a delta of a running model call.
type Update struct {
	Session string
	Event   *Event // nil for a delta
	Act     string // of the delta
	Kind    string // of the delta: text, thinking, tool; files: how far a capture of the files is that takes long
	Text    string
	Tool    string // of a tool's delta: its name
	Use     string // and the provider's id of the call
}

func updateOf(u engine.Update) Update {
	out := Update{Session: u.Session, Act: u.Act, Kind: u.Kind, Text: u.Text, Tool: u.Tool, Use: u.Use}
	if u.Event != nil {
		ev := eventOf(*u.Event, u.Body)
		out.Event = &ev
	}
	return out
}
