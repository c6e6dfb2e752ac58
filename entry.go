package perdure

import (
	"context"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/view"
)

// User is the cause of what a person does: every entry has one.
var User = store.Actor{Type: store.ActorUser}

// Entry is what a program appends to a session's log. The functions below make it; read, it is an [Event].
type Entry struct{ body session.Body }

// AppEvent is an event of a program's own, which is kept as it is: a namespace, and bytes.
func AppEvent(namespace string, data []byte) Entry {
	return Entry{&session.App{Namespace: namespace, Data: data}}
}

// ScratchEvent sets a value of the session's scratch state, of which all keys and values have 1 MiB; nil removes it.
func ScratchEvent(key string, value []byte) Entry {
	return Entry{&session.StateSet{Key: key, Value: value}}
}

// FactEvent adds a lasting statement. Kinds are fact, decision, finding, failed_approach and constraint; provenances, which
// say whose word it is, are user, tool, model and import.
func FactEvent(kind, text, provenance string) Entry {
	return Entry{&session.FactAdded{Fact: session.Fact{Kind: kind, Text: text, Provenance: provenance}}}
}

// PlanEvent replaces the plan.
func PlanEvent(steps ...view.Step) Entry {
	plan := make([]session.Step, len(steps))
	for i, s := range steps {
		plan[i] = session.Step{
			Content: s.Content, ActiveForm: s.ActiveForm, Status: session.StepStatus(s.Status), Blocker: s.Blocker, Reason: s.Reason, Output: s.Output,
		}
	}
	return Entry{&session.PlanSet{Steps: plan}}
}

// LabelEvent names the session, if the title is not empty, and sets labels; an empty value removes one.
func LabelEvent(title string, labels map[string]string) Entry {
	b := &session.Labelled{Labels: labels}
	if title != "" {
		b.Title = &title
	}
	return Entry{b}
}

// LifecycleEvent says where the session stands for its owner: open, paused (starts nothing new), closed or archived.
func LifecycleEvent(to string) Entry {
	return Entry{&session.LifecycleSet{To: session.Lifecycle(to)}}
}

func bodiesOf(entries []Entry) []session.Body {
	out := make([]session.Body, len(entries))
	for i, e := range entries {
		out[i] = e.body
	}
	return out
}

// AppendOptions say how entries are appended by [Home.Append].
type AppendOptions struct {
	// Key, if not empty, makes an append that is given again do nothing more: the same key with the same entries.
	Key string
	// Expect, if not nil, is where the log must end: store.ErrConflict tells that somebody else has appended.
	Expect *store.Head
	// Shared are values to set in the same commit that all sessions of the home share; see [Home.Shared].
	Shared []store.Shared
}

// Append adds entries to a session, in one commit, and returns the head then. Nobody need hold the
// session, and nobody does afterwards: programs that only write now and then need no lease, and those of several
// processes come one after the other. What does not fit the session is refused whole: ErrUnfit. Other errors:
// *store.HeldError if a living process holds it, store.ErrConflict if a head is expected, store.ErrKeyReused,
// store.ErrNotFound, store.ErrUncertain.
func (h *Home) Append(ctx context.Context, id string, opt AppendOptions, actor store.Actor, entries ...Entry) (store.Head, error) {
	return h.in.Append(ctx, id, homes.AppendOptions(opt), actor, bodiesOf(entries)...)
}

// Deliver puts an entry into a session's inbox and waits until it is in the log: a live holder takes it, else this
// process takes the lease for just that. The same key and entry again do nothing more; an empty key is a new one. Errors:
// ErrRefused, store.ErrKeyReused, store.ErrNotFound, store.ErrUncertain.
func (h *Home) Deliver(ctx context.Context, id, key string, e Entry) error {
	return h.in.Deliver(ctx, id, key, e.body)
}

// Shared returns the values of a scope that the home's sessions share, by key: an application's, a user's. They are set
// by [AppendOptions] and [Spec], in the same commit as the entries that they come with; a scope has 1 MiB.
func (h *Home) Shared(ctx context.Context, scope string) (map[string][]byte, error) {
	return h.in.Shared(ctx, scope)
}
