package screen

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/perdure/perdure/internal/cli/tasks"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/chat"
	"github.com/perdure/perdure/store"
)

// Bounds of what is looked at for what was run here and is in no message yet.
const (
	maxLeft     = 20
	maxMessages = 10_000
	maxPending  = 1000
)

// ShellLeft is what was run here and is in no message yet. The log alone says so, by the keys of tasks and messages:
// whatever became of the screen that ran it, its output is in one message, and in no more than one.
func (l *link) ShellLeft(ctx context.Context) ([]chat.Ran, error) {
	id := l.session()
	if id == "" {
		return nil, nil
	}
	st, err := l.state(ctx)
	if err != nil {
		return nil, err
	}
	var out []chat.Ran
	first := st.Head.Seq
	for i := range st.Tasks {
		if t := &st.Tasks[i]; t.Session == "" && tasks.IsShell(t) {
			r := chat.Ran{Line: t.Command, Task: t.ID, Act: session.BaseOf(t.Act)}
			if t.Started > 0 {
				r.Began = time.UnixMilli(t.Started)
			}
			out = append(out, r)
			first = min(first, t.Requested)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	told, err := l.toldSince(ctx, id, first)
	if err != nil {
		return nil, err
	}
	told = append(told, l.forgotten(id)...)
	out = slices.DeleteFunc(out, func(r chat.Ran) bool { return slices.Contains(told, r.Act) })
	return out[max(len(out)-maxLeft, 0):], nil
}

// toldSince are the acts that messages tell of which came after an event, or wait to be taken into the log.
func (l *link) toldSince(ctx context.Context, id string, after int64) (acts []string, err error) {
	info, err := l.home.Store().Get(ctx, id)
	if err != nil {
		return nil, err
	}
	waiting, err := l.home.Store().Pending(ctx, id, info.Mark, maxPending)
	if err != nil {
		return nil, err
	}
	for _, it := range waiting {
		acts = append(acts, chat.Told(it.Key)...)
	}
	back := map[int64]bool{} // taken back
	kinds := []store.Kind{session.KindMessageReceived, session.KindMessageWithdrawn}
	for ev, err := range l.home.Range(ctx, id, homes.Range{After: after, Kinds: kinds, Last: maxMessages, Reverse: true}) {
		if err != nil {
			return nil, err
		}
		body, err := session.Decode(ev)
		if err != nil {
			return nil, err
		}
		switch b := body.(type) {
		case *session.MessageWithdrawn:
			back[b.Seq] = true
		case *session.MessageReceived:
			if !back[ev.Seq] {
				acts = append(acts, chat.Told(b.Key)...)
			}
		default:
		}
	}
	return acts, nil
}

// forgottenName is the file of what its person wants told by no message.
const forgottenName = "untold.json"

// forgotten are the acts of it.
func (l *link) forgotten(id string) (acts []string) {
	b, err := l.home.Draft(id, forgottenName)
	if err != nil || json.Unmarshal(b, &acts) != nil {
		return nil // it is told once too often rather than lost
	}
	return acts
}

// ShellForget notes what is told by no message.
func (l *link) ShellForget(_ context.Context, ran []chat.Ran) error {
	done, err := l.enter()
	if err != nil {
		return err
	}
	defer done()
	id, _, err := l.there()
	if err != nil {
		return err
	}
	acts := l.forgotten(id)
	for _, r := range ran {
		acts = append(acts, r.Act)
	}
	b, err := json.Marshal(acts[max(len(acts)-maxPending, 0):])
	if err != nil {
		return err
	}
	return l.home.KeepDraft(id, forgottenName, b)
}
