package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// inboxPage bounds how many items are drained in one transaction.
const inboxPage = 100

// Drain moves accepted inbox items into the log, in order: each becomes exactly one event, its own kind's or
// inbox.refused, in one transaction with the mark and with what an answer about a lost act leads to.
func (s *Session) Drain(ctx context.Context) error {
	for {
		items, err := s.eng.cfg.Store.Pending(ctx, s.state.ID, s.mark, inboxPage)
		if err != nil {
			return fmt.Errorf("session %s: inbox: %w", s.state.ID, err)
		}
		if len(items) == 0 {
			return nil
		}
		for _, it := range items {
			body := s.admit(it)
			actors, then := s.decided(it.Actor, body)
			actors, bodies := append([]store.Actor{it.Actor}, actors...), append([]session.Body{body}, then...)
			if err := s.appendAs(ctx, actors, bodies, it.N); err != nil {
				return err
			}
		}
		if s.waker != nil { // not during the opening
			s.eng.wakers.took(s.waker)
		}
		if len(items) < inboxPage {
			return nil
		}
	}
}

// ErrRefused tells that a session refused an inbox item; its text says why.
var ErrRefused = errors.New("refused by the session")

// NewKey gives an idempotency key that nothing has.
func (e *Engine) NewKey() string { return e.cfg.NewID() }

// NewItem makes an inbox item of a body. An empty key gives a new one.
func (e *Engine) NewItem(key string, actor store.Actor, body session.Body) (store.Item, error) {
	b, err := session.Encode(body)
	if err != nil {
		return store.Item{}, err
	}
	if key == "" {
		key = e.cfg.NewID()
	}
	return store.Item{
		Key: key, Kind: session.KindOf(body), Actor: actor, Time: e.cfg.Now().UnixMilli(), Body: b,
		Digest: store.Sum(append([]byte(session.KindOf(body)+"\x00"), b...)),
	}, nil
}
