package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/store"
)

// ErrNoEvents tells that a session's log is empty: some other user of the store made it, the engine never does.
var ErrNoEvents = errors.New("session has no events")

// ErrBeyond says that a position is after the newest event of a log.
var ErrBeyond = errors.New("beyond the newest")

// maxAncestors bounds a chain of forks.
const maxAncestors = 1000

// Load computes a session's state from its newest usable snapshot and the events after it.
func (e *Engine) Load(ctx context.Context, id string) (*session.State, error) {
	return e.LoadAt(ctx, id, 0, false)
}

// LoadAt computes the state at seq (0: the head). With settled, it goes back to the newest seq at which no act was
// open.
func (e *Engine) LoadAt(ctx context.Context, id string, seq int64, settled bool) (*session.State, error) {
	return e.loadAt(ctx, id, seq, settled, maxAncestors)
}

func (e *Engine) loadAt(ctx context.Context, id string, seq int64, settled bool, depth int) (*session.State, error) {
	if depth == 0 {
		return nil, fmt.Errorf("session %s has more than %d ancestors", id, maxAncestors)
	}
	info, err := e.cfg.Store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if info.Head.Seq == 0 {
		return nil, fmt.Errorf("session %s: %w", id, ErrNoEvents)
	}
	if seq > info.Head.Seq {
		return nil, fmt.Errorf("session %s has %d events, and %d is %w", id, info.Head.Seq, seq, ErrBeyond)
	}
	if seq == 0 {
		seq = info.Head.Seq
	}
	if settled {
		if seq, err = e.settledSeq(ctx, info, seq, depth); err != nil {
			return nil, err
		}
	}
	st, _, err := e.base(ctx, info, seq, depth)
	if err != nil {
		return nil, err
	}
	return st, e.fold(ctx, info, st, seq, nil)
}

// resume computes the state of a session that is held, with the size of the snapshot that it began with, 0 if there
// was none, and the bytes of the events that were folded since.
func (e *Engine) resume(ctx context.Context, info store.Info) (st *session.State, size, folded int64, err error) {
	if info.Head.Seq == 0 {
		return nil, 0, 0, fmt.Errorf("session %s: %w", info.ID, ErrNoEvents)
	}
	if st, size, err = e.base(ctx, info, info.Head.Seq, maxAncestors); err != nil {
		return nil, 0, 0, err
	}
	err = e.fold(ctx, info, st, info.Head.Seq, func(ev store.Event) { folded += int64(len(ev.Body)) })
	return st, size, folded, err
}

// base is the state that a session's own events are folded onto: the newest snapshot's at atMost or before, with its
// size, else the one before its first event.
func (e *Engine) base(ctx context.Context, info store.Info, atMost int64, depth int) (*session.State, int64, error) {
	if st, size := e.cached(ctx, info, atMost); st != nil {
		return st, size, nil
	}
	if info.Parent == nil {
		return session.New(info.ID), 0, nil
	}
	parent, err := e.loadAt(ctx, info.Parent.Session, info.Parent.Seq, false, depth-1)
	if err != nil {
		return nil, 0, fmt.Errorf("parent of %s: %w", info.ID, err)
	}
	if parent.Head.Hash != info.Parent.Hash {
		return nil, 0, &store.CorruptError{Session: info.Parent.Session, Seq: info.Parent.Seq, Cause: errors.New("hash differs from the fork's")}
	}
	return session.Fork(parent, info.ID), 0, nil
}

// cached is the state of a usable snapshot and its size, or nil. Snapshots are never truth: whatever is wrong with one,
// the log is folded instead.
func (e *Engine) cached(ctx context.Context, info store.Info, atMost int64) (*session.State, int64) {
	if atMost <= 0 {
		return nil, 0
	}
	snap, err := e.cfg.Store.LoadSnapshot(ctx, info.ID, session.FoldVersion, atMost)
	if err != nil || snap == nil {
		return nil, 0
	}
	st := &session.State{}
	if json.Unmarshal(snap.State, st) != nil || st.ID != info.ID || st.Head != (store.Head{Seq: snap.Seq, Hash: snap.Hash}) {
		e.cfg.Log.Info("snapshot is not usable", "session", info.ID)
		return nil, 0
	}
	return st, int64(len(snap.State))
}

// fold moves a state on to seq; each, if set, is called after every event.
func (e *Engine) fold(ctx context.Context, info store.Info, st *session.State, seq int64, each func(store.Event)) error {
	if st.Head.Seq >= seq {
		return nil
	}
	for ev, err := range e.cfg.Store.Read(ctx, info.ID, st.Head.Seq+1, seq) {
		if err != nil {
			return err
		}
		if err := st.Apply(ev); err != nil {
			return &store.CorruptError{Session: info.ID, Seq: ev.Seq, Cause: err}
		}
		if each != nil {
			each(ev)
		}
	}
	return nil
}

// settledSeq finds the newest seq ≤ seq without an open act. It looks at what follows the newest snapshot first, then
// further back.
func (e *Engine) settledSeq(ctx context.Context, info store.Info, seq int64, depth int) (int64, error) {
	for limit := seq; ; {
		st, _, err := e.base(ctx, info, limit, depth)
		if err != nil {
			return 0, err
		}
		from, best := st.Head.Seq, int64(0)
		if from > 0 && st.SettledNow() {
			best = from
		}
		err = e.fold(ctx, info, st, seq, func(store.Event) {
			if st.SettledNow() {
				best = st.Head.Seq
			}
		})
		switch {
		case err != nil:
			return 0, err
		case best > 0:
			return best, nil
		case from == 0:
			return 0, fmt.Errorf("session %s: no settled position at or before %d", info.ID, seq)
		}
		limit = from - 1
	}
}

// Whole reads all of a session's conversation, from its ancestors' logs and its own, whatever was compacted.
func (e *Engine) Whole(ctx context.Context, st *session.State) (*session.Transcript, error) {
	logs, err := e.lineage(ctx, st)
	if err != nil {
		return nil, err
	}
	return e.read(ctx, st.ID, logs)
}

// lineage are a session's log and what it inherited of its ancestors' logs, the oldest first.
func (e *Engine) lineage(ctx context.Context, st *session.State) ([]session.Range, error) {
	logs := []session.Range{{Session: st.ID, From: 1, To: st.Head.Seq}}
	for parent := st.Parent; parent != nil && len(logs) <= maxAncestors; {
		logs = append(logs, session.Range{Session: parent.Session, From: 1, To: parent.Seq})
		info, err := e.cfg.Store.Get(ctx, parent.Session)
		if err != nil {
			return nil, err
		}
		parent = info.Parent
	}
	slices.Reverse(logs)
	return logs, nil
}

// log walks all of them.
func (e *Engine) log(ctx context.Context, st *session.State) iter.Seq2[tools.LogEntry, error] {
	return func(yield func(tools.LogEntry, error) bool) {
		logs, err := e.lineage(ctx, st)
		if err != nil {
			yield(tools.LogEntry{}, err)
			return
		}
		for _, r := range logs {
			for ev, err := range e.cfg.Store.Read(ctx, r.Session, r.From, r.To) {
				var body session.Body
				if err == nil {
					body, err = session.Decode(ev)
				}
				if !yield(tools.LogEntry{Session: r.Session, Event: ev, Body: body}, err) || err != nil {
					return
				}
			}
		}
	}
}

// Transcript reads a session's conversation from the ranges that its state names.
func (e *Engine) Transcript(ctx context.Context, st *session.State) (*session.Transcript, error) {
	return e.read(ctx, st.ID, st.Conversation())
}

func (e *Engine) read(ctx context.Context, id string, ranges []session.Range) (*session.Transcript, error) {
	t := &session.Transcript{}
	for _, r := range ranges {
		t.From(r.Session)
		for ev, err := range e.cfg.Store.Read(ctx, r.Session, r.From, r.To) {
			if err != nil {
				return nil, err
			}
			body, err := session.Decode(ev)
			if err != nil {
				return nil, &store.CorruptError{Session: r.Session, Seq: ev.Seq, Cause: err}
			}
			t.Apply(ev, body)
		}
	}
	t.From(id)
	return t, nil
}
