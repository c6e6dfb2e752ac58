package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// FreeAppend says how events are added to a session that nobody holds.
type FreeAppend struct {
	// Key, if not empty, makes an append that is given again do nothing more: the same key with the same events.
	Key string
	// Expect, if not nil, is where the log must end: store.ErrConflict tells that somebody else has appended.
	Expect *store.Head
	// Shared are values to set in the same commit that all sessions of the home share; see [store.Batch].
	Shared []store.Shared
}

// freeTries bounds how often an append is made anew because others came first.
const freeTries = 1000

// AppendFree adds events to the log of a session that nobody holds, in one commit and without a trace of a holder, and
// returns the head then. Those of several processes come one after the other. What does not fit is refused whole:
// session.ErrUnfit. Other errors: *store.HeldError, store.ErrConflict if a head is expected, store.ErrKeyReused,
// store.ErrNotFound.
func (e *Engine) AppendFree(ctx context.Context, id string, how FreeAppend, actor store.Actor, bodies ...session.Body) (store.Head, error) {
	return e.AppendFreeAt(ctx, 0, id, how, actor, bodies...)
}

// AppendFreeAt is AppendFree of events of a time, in ms UTC; 0: now.
func (e *Engine) AppendFreeAt(ctx context.Context, ms int64, id string, how FreeAppend, actor store.Actor, bodies ...session.Body) (store.Head, error) {
	if err := session.CheckNil(bodies...); err != nil {
		return store.Head{}, fmt.Errorf("session %s: append: %w", id, err)
	}
	if len(bodies) == 0 {
		return store.Head{}, fmt.Errorf("session %s: append: %w: no events", id, session.ErrUnfit)
	}
	f := e.known.get(id)
	f.mu.Lock()
	defer f.mu.Unlock()
	for range freeTries {
		head, err := e.appendFree(ctx, f, cmp.Or(ms, e.cfg.Now().UnixMilli()), id, how, actor, bodies)
		if how.Expect != nil || !errors.Is(err, store.ErrConflict) || ctx.Err() != nil {
			return head, err
		}
	}
	return store.Head{}, fmt.Errorf("session %s: append: others came first %d times: %w", id, freeTries, store.ErrConflict)
}

func (e *Engine) appendFree(ctx context.Context, f *knownState, ms int64, id string, how FreeAppend, actor store.Actor, bodies []session.Body) (store.Head, error) {
	info, err := e.cfg.Store.Get(ctx, id)
	if err == nil {
		err = e.catchUp(ctx, f, info)
	}
	if err != nil {
		f.state = nil
		return store.Head{}, err
	}
	st := f.state
	if how.Expect != nil && st.Head != *how.Expect {
		return st.Head, fmt.Errorf("session %s: append after %d: it ends at %d: %w", id, how.Expect.Seq, st.Head.Seq, store.ErrConflict)
	}
	if st.ReadOnly != "" {
		return st.Head, fmt.Errorf("session %s is read-only here: %s: %w", id, st.ReadOnly, store.ErrNewer)
	}
	events, err := e.sealAt(ms, st, slices.Repeat([]store.Actor{actor}, len(bodies)), bodies, true)
	if err != nil {
		return st.Head, err
	}
	after := st.Copy()
	for i, ev := range events {
		after.ApplyBody(ev, bodies[i])
	}
	heads := Heads(after)
	heads.Extra = listedOf(after, after.Head.Seq, after.Updated)
	err = e.cfg.Store.AppendFree(context.WithoutCancel(ctx), id, store.Batch{Events: events, Heads: &heads, Item: e.keyed(how.Key, actor, events), Shared: how.Shared})
	switch {
	case errors.Is(err, store.ErrKnown):
		return st.Head, nil
	case err != nil:
		f.state = nil // whatever it was, the log is read again
		return st.Head, fmt.Errorf("session %s: append: %w", id, err)
	}
	f.state = after
	for i, ev := range events {
		f.fresh += int64(len(ev.Body))
		if e.cfg.Observe != nil {
			e.cfg.Observe(Update{Session: id, Event: &ev, Body: bodies[i]})
		}
	}
	e.snapshotFree(ctx, f)
	return after.Head, nil
}

// keyed is what keeps the key of an append: its digest is of the events' bodies.
func (e *Engine) keyed(key string, actor store.Actor, events []store.Event) *store.Item {
	if key == "" {
		return nil
	}
	var all []byte
	for _, ev := range events {
		all = append(append(all, ev.Kind...), 0)
		all = append(all, ev.Digest[:]...)
	}
	return &store.Item{Key: key, Kind: events[0].Kind, Actor: actor, Time: events[0].Time, Digest: store.Sum(all)}
}

// snapshotFree stores the state when what came since the newest snapshot outweighs it. Losing one is harmless.
func (e *Engine) snapshotFree(ctx context.Context, f *knownState) {
	const atLeast = 64 << 10
	if f.fresh <= atLeast {
		return
	}
	b, err := json.Marshal(f.state)
	if err == nil && f.fresh <= int64(len(b)) {
		return
	}
	e.saveSnapshot(ctx, f.state, b, err)
	f.fresh, f.size = 0, int64(len(b))
}
