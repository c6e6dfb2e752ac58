package engine

import (
	"context"
	"sync"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// knownStates are states of sessions that this process gave back or appended to without holding them, as of what it saw
// of their logs last. Whoever comes back to one reads only what others added meanwhile.
type knownStates struct {
	mu sync.Mutex
	of map[string]*knownState
}

type knownState struct {
	mu    sync.Mutex     // one append at a time
	state *session.State // nil: not known
	fresh int64          // bytes of events since the newest snapshot
	size  int64          // of that snapshot; 0: there is none
}

// maxKnown bounds the states that are kept; of more, any is forgotten.
const maxKnown = 64

func (k *knownStates) get(id string) *knownState {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[string]*knownState{}
	}
	if k.of[id] == nil {
		for other := range k.of {
			if len(k.of) < maxKnown {
				break
			}
			delete(k.of, other)
		}
		k.of[id] = &knownState{}
	}
	return k.of[id]
}

// take gives the state of a session that is held from now on, with what knownState says of it, and forgets it here: it is
// the holder's.
func (k *knownStates) take(ctx context.Context, e *Engine, info store.Info) (st *session.State, fresh, size int64, err error) {
	f := k.get(info.ID)
	f.mu.Lock()
	defer f.mu.Unlock()
	err = e.catchUp(ctx, f, info)
	st, f.state = f.state, nil
	return st, f.fresh, f.size, err
}

// keep remembers the state of a session that is given back. It is a copy: who held the session may still look at its own.
func (k *knownStates) keep(st *session.State, fresh, size int64) {
	f := k.get(st.ID)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state, f.fresh, f.size = st.Copy(), fresh, size
}

// catchUp brings a kept state to the end of the log.
func (e *Engine) catchUp(ctx context.Context, f *knownState, info store.Info) (err error) {
	switch {
	case f.state != nil && f.state.Head == info.Head:
		return nil
	case f.state != nil && f.state.Head.Seq < info.Head.Seq:
		count := func(ev store.Event) { f.fresh += int64(len(ev.Body)) }
		if err = e.fold(ctx, info, f.state, info.Head.Seq, count); err == nil && f.state.Head == info.Head {
			return nil
		}
	}
	f.state, f.size, f.fresh, err = e.resume(ctx, info)
	return err
}
