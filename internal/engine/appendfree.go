package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

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

// freeStates are states of sessions that this process appends to without holding them, as of what it knows of their logs.
type freeStates struct {
	mu sync.Mutex
	of map[string]*freeState
}

type freeState struct {
	mu    sync.Mutex // one append at a time
	state *session.State
	fresh int64 // bytes of events since the newest snapshot
}

// maxFree bounds the states that are kept; of more, any is forgotten.
const maxFree = 64

func (f *freeStates) get(id string) *freeState {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[string]*freeState{}
	}
	if f.of[id] == nil {
		for other := range f.of {
			if len(f.of) < maxFree {
				break
			}
			delete(f.of, other)
		}
		f.of[id] = &freeState{}
	}
	return f.of[id]
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
	f := e.free.get(id)
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

func (e *Engine) appendFree(ctx context.Context, f *freeState, ms int64, id string, how FreeAppend, actor store.Actor, bodies []session.Body) (store.Head, error) {
	if err := e.catchUp(ctx, f, id); err != nil {
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

// catchUp brings a kept state to the end of the log.
func (e *Engine) catchUp(ctx context.Context, f *freeState, id string) (err error) {
	info, err := e.cfg.Store.Get(ctx, id)
	if err != nil {
		f.state = nil
		return err
	}
	switch {
	case f.state != nil && f.state.Head == info.Head:
		return nil
	case f.state != nil && f.state.Head.Seq < info.Head.Seq:
		if err = e.fold(ctx, info, f.state, info.Head.Seq, nil); err == nil && f.state.Head == info.Head {
			return nil
		}
	}
	f.state, _, f.fresh, err = e.resume(ctx, info)
	return err
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
func (e *Engine) snapshotFree(ctx context.Context, f *freeState) {
	const atLeast = 64 << 10
	if f.fresh <= atLeast {
		return
	}
	b, err := json.Marshal(f.state)
	if err == nil && f.fresh <= int64(len(b)) {
		return
	}
	if err == nil {
		err = e.cfg.Store.SaveSnapshot(context.WithoutCancel(ctx), f.state.ID, store.Snapshot{
			Seq: f.state.Head.Seq, Hash: f.state.Head.Hash, FoldVersion: session.FoldVersion, State: b,
		})
	}
	if err != nil {
		e.cfg.Log.Info("snapshot was not saved", "session", f.state.ID, "error", err)
	}
	f.fresh = 0
}
