package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// ErrReleased says that a session was closed by its holder: it is opened again by [Engine.Open].
var ErrReleased = errors.New("the session was closed by this holder")

// append seals bodies as the next events, and changes memory only after the store acknowledged them.
func (s *held) append(ctx context.Context, actor store.Actor, bodies ...session.Body) error {
	bodies, free, err := s.asks(ctx, bodies)
	defer release(free)
	if err != nil {
		return err
	}
	actors := slices.Repeat([]store.Actor{actor}, len(bodies))
	if wish := s.takeBack(bodies); wish != nil {
		bodies, actors = append(slices.Clip(bodies), wish), append(actors, engineActor)
	}
	return s.appendAs(ctx, actors, bodies, 0)
}

func (s *held) appendAs(ctx context.Context, actors []store.Actor, bodies []session.Body, mark int64) error {
	return s.appendBatch(ctx, actors, bodies, store.Batch{Mark: mark}, false)
}

// appendBatch appends the events of bodies with what else the batch holds. With check, what the fold would fault is refused
// before anything is written.
func (s *held) appendBatch(ctx context.Context, actors []store.Actor, bodies []session.Body, b store.Batch, check bool) error {
	if s.failed != nil {
		return s.failed
	}
	if s.released {
		return fmt.Errorf("session %s: append: %w", s.state.ID, ErrReleased)
	}
	if len(bodies) == 0 && b.Mark == 0 {
		return nil
	}
	events, err := s.eng.seal(s.state, actors, bodies, check)
	if err != nil {
		return err
	}
	b.Events, b.Heads = events, s.changedHeads(bodies)
	err = s.eng.cfg.Store.Append(context.WithoutCancel(ctx), s.lease, b)
	if err != nil {
		s.failed = fmt.Errorf("session %s: append: %w", s.state.ID, err)
		return s.failed
	}
	s.mark = max(s.mark, b.Mark)
	for i, ev := range events {
		s.fold(ev, bodies[i])
	}
	if s.fresh > max(64<<10, s.snapSize) {
		s.snapshot(ctx)
	}
	s.saveDocuments(ctx, bodies)
	return nil
}

// seal makes the events that continue a state's log. Known secrets in the bodies are replaced. With check, what would not
// mean the same then, and what the fold would fault, is refused.
func (e *Engine) seal(st *session.State, actors []store.Actor, bodies []session.Body, check bool) ([]store.Event, error) {
	return e.sealAt(e.cfg.Now().UnixMilli(), st, actors, bodies, check)
}

// sealAt is seal at a time.
func (e *Engine) sealAt(ms int64, st *session.State, actors []store.Actor, bodies []session.Body, check bool) ([]store.Event, error) {
	chain := session.Chain{Session: st.ID, Head: st.Head}
	events := make([]store.Event, len(bodies))
	for i, b := range bodies {
		if used := e.hide(b); check && len(used) > 0 {
			return nil, fmt.Errorf("session %s: append: %w: %s holds the value of a secret, which the log does not keep", st.ID, session.ErrUnfit, used[0])
		}
		ev, err := chain.Event(actors[i], ms, b)
		if err != nil {
			return nil, err
		}
		events[i] = ev
	}
	if !check {
		return events, nil
	}
	if err := st.Check(events, bodies); err != nil {
		return nil, fmt.Errorf("session %s: append: %w", st.ID, err)
	}
	return events, nil
}

// hide replaces known secrets in whatever is about to enter a log, whoever made it. It returns the fields whose words
// would have been used as they stand.
func (e *Engine) hide(b session.Body) (used []string) {
	if _, none := e.cfg.Secrets.(noSecrets); !none {
		return session.Redact(b, e.cfg.Secrets.Replace)
	}
	return nil
}

// changedHeads are the listing heads if they differ from the ones stored. They are of the state before the append, one
// step late at worst; the last append of a lease, session.released, makes them right. The name, by which sessions are
// found, is that of the append itself: a step may take hours.
func (s *held) changedHeads(bodies []session.Body) *store.Heads {
	h := Heads(s.state)
	for _, b := range bodies {
		if l, ok := b.(*session.Labelled); ok && l.Title != nil {
			h.Title = *l.Title
		}
	}
	if h.Extra = s.listed; h.Extra == nil {
		h.Extra = s.stillUnstirred(bodies)
	}
	if s.heads != nil && reflect.DeepEqual(*s.heads, h) {
		return nil
	}
	s.heads = &h
	return &h
}

func (s *held) fold(ev store.Event, body session.Body) {
	s.state.ApplyBody(ev, body)
	if _, ok := body.(*session.Compacted); ok {
		s.transcript = nil // it begins anew
	} else if s.transcript != nil {
		s.transcript.Apply(ev, body)
	}
	s.noted(body)
	if stirs(body) {
		s.stirred = ev.Time
	}
	s.fresh += int64(len(ev.Body))
	s.observe(Update{Session: s.state.ID, Event: &ev, Body: body})
}

// observe shows something; flights show their deltas, so only one at a time may.
func (s *held) observe(u Update) {
	if s.eng.cfg.Observe == nil {
		return
	}
	s.showing.Lock()
	defer s.showing.Unlock()
	s.eng.cfg.Observe(u)
}

func (s *held) snapshot(ctx context.Context) {
	b, err := json.Marshal(s.state)
	s.eng.saveSnapshot(ctx, s.state, b, err)
	s.fresh, s.snapSize = 0, int64(len(b))
}

// saveSnapshot saves a state that was marshalled, unless that failed. A snapshot that is missing costs time and nothing
// else.
func (e *Engine) saveSnapshot(ctx context.Context, st *session.State, b []byte, err error) {
	if err == nil {
		err = e.cfg.Store.SaveSnapshot(context.WithoutCancel(ctx), st.ID, store.Snapshot{
			Seq: st.Head.Seq, Hash: st.Head.Hash, FoldVersion: session.FoldVersion, State: b,
		})
	}
	if err != nil {
		e.cfg.Log.Info("snapshot was not saved", "session", st.ID, "error", err)
	}
}
