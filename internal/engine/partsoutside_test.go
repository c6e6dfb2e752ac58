package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Whoever observes is told every event of a session, the first ones as well.
func TestTheFirstEventsAreObserved(t *testing.T) {
	var seqs []int64
	s := newStage(t)
	s.config = func(c *engine.Config) {
		c.Observe = func(u engine.Update) {
			if u.Event != nil {
				seqs = append(seqs, u.Event.Seq)
			}
		}
	}
	p := s.process()
	if _, err := p.Create(t.Context(), engine.Spec{ID: "s", Cwd: "/w", Agent: session.Agent{Provider: "stage", Model: "m"}}); err != nil {
		t.Fatal(err)
	}
	if len(seqs) == 0 || seqs[0] != 1 {
		t.Errorf("told of %v", seqs)
	}
}

// counting counts the snapshots that are saved.
type counting struct {
	store.Store
	saved *int
}

func (c counting) SaveSnapshot(ctx context.Context, id string, s store.Snapshot) error {
	*c.saved++
	return c.Store.SaveSnapshot(ctx, id, s)
}

// What a program appends by itself is snapshotted when it outweighs the state, so that opening stays cheap.
func TestFreeAppendsAreSnapshotted(t *testing.T) {
	saved := 0
	s := newStage(t)
	s.config = func(c *engine.Config) { c.Store = counting{c.Store, &saved} }
	p := s.process()
	if _, err := p.Create(t.Context(), engine.Spec{ID: "s", Cwd: "/w", Agent: session.Agent{Provider: "stage", Model: "m"}}); err != nil {
		t.Fatal(err)
	}
	note := &session.MessageReceived{Note: true, Content: []model.Part{model.TextPart(strings.Repeat("x", 10_000))}}
	for i := range 20 {
		if _, err := p.AppendFree(t.Context(), "s", engine.FreeAppend{}, store.Actor{Type: store.ActorUser}, note); err != nil {
			t.Fatal(err)
		}
		if i == 1 && saved > 0 {
			t.Errorf("%d snapshots after %d appends", saved, i+1)
		}
	}
	if saved == 0 || saved > 5 {
		t.Errorf("%d snapshots of 200 kB", saved)
	}
}
