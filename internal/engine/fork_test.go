package engine_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// counted is a store that counts what is asked of it.
type counted struct {
	store.Store
	writes []string
	read   map[string]int // events and looks for a snapshot, by session
}

func (c *counted) Create(ctx context.Context, n store.NewSession) error {
	c.writes = append(c.writes, fmt.Sprintf("create %s with %d events", n.ID, len(n.Events)))
	return c.Store.Create(ctx, n)
}

func (c *counted) Acquire(ctx context.Context, id string) (store.Lease, error) {
	c.writes = append(c.writes, "acquire "+id)
	return c.Store.Acquire(ctx, id)
}

func (c *counted) Append(ctx context.Context, l store.Lease, b store.Batch) error {
	c.writes = append(c.writes, "append to "+l.Session)
	return c.Store.Append(ctx, l, b)
}

func (c *counted) SaveSnapshot(ctx context.Context, id string, n store.Snapshot) error {
	c.writes = append(c.writes, "snapshot of "+id)
	return c.Store.SaveSnapshot(ctx, id, n)
}

func (c *counted) LoadSnapshot(ctx context.Context, id string, fold int, atMost int64) (*store.Snapshot, error) {
	c.read[id]++
	return c.Store.LoadSnapshot(ctx, id, fold, atMost)
}

func (c *counted) Read(ctx context.Context, id string, from, to int64) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) {
		for ev, err := range c.Store.Read(ctx, id, from, to) {
			c.read[id]++
			if !yield(ev, err) {
				return
			}
		}
	}
}

// watched is a stage on whose store everything is counted, whichever process asks.
func watched(t *testing.T) (*stage, process, *counted) {
	s, c := newStage(t), &counted{read: map[string]int{}}
	s.config = func(cfg *engine.Config) { c.Store, cfg.Store = cfg.Store, c }
	p := s.process()
	if _, err := p.Create(t.Context(), engine.Spec{ID: "s", Cwd: "/w", Agent: session.Agent{Provider: "stage"}}); err != nil {
		t.Fatal(err)
	}
	return s, p, c
}

// visit opens a session, appends n small events and closes it.
func visit(t *testing.T, p process, id string, n int) {
	t.Helper()
	se, err := p.Open(t.Context(), id, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := se.Append(t.Context(), store.Actor{Type: store.ActorUser}, &session.App{Namespace: "test", Data: fmt.Appendf(nil, "%0100d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := se.Close(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
}

// A creation and a fork are one write, which holds the first event. The child's first opening stores its snapshot; no
// later one reads its parent's log again, however far that has gone.
func TestForkIsOneWrite(t *testing.T) {
	s, p, c := watched(t)
	if got := fmt.Sprint(c.writes); got != "[create s with 1 events]" {
		t.Errorf("creation: %s", got)
	}
	visit(t, p, "s", 50)
	c.writes = nil
	if _, _, err := p.Fork(t.Context(), "s", 0, "c", ""); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(c.writes); got != "[create c with 1 events]" {
		t.Errorf("fork: %s", got)
	}
	c.writes, c.read = nil, map[string]int{}
	visit(t, p, "c", 0)
	if got := fmt.Sprint(c.writes[:3]); got != "[acquire c append to c snapshot of c]" || c.read["s"] == 0 {
		t.Errorf("first opening: %s, %d reads of the parent", got, c.read["s"])
	}
	for range 3 {
		c.writes, c.read = nil, map[string]int{}
		visit(t, s.process(), "c", 0)
		if len(c.read) != 1 || c.read["c"] > 10 {
			t.Errorf("later opening reads %v", c.read)
		}
		if got := fmt.Sprint(c.writes); got != "[acquire c append to c append to c]" {
			t.Errorf("later opening writes %s", got)
		}
	}
}

// What opening reads stays bounded although no single visit is long enough for a snapshot: the events since the
// newest one count, whoever appended them.
func TestManyShortVisits(t *testing.T) {
	s, _, c := watched(t)
	most := 0
	for range 300 {
		c.read = map[string]int{}
		visit(t, s.process(), "s", 3)
		most = max(most, c.read["s"])
	}
	t.Logf("at most %d events read by an opening", most)
	if most > 400 {
		t.Errorf("an opening read %d events of 1,500", most)
	}
}
