package engine_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// forgetful notes when the record of a command is removed.
type forgetful struct {
	*shims
	note func(string)
}

func (f forgetful) Remove(id, act string) error {
	f.note("remove")
	return f.shims.Remove(id, act)
}

// TestKeptOutputIsDurableFirst: what is kept of an output, its name and the directory of that name are durable before the
// command's own record goes.
func TestKeptOutputIsDurableFirst(t *testing.T) {
	s, cmds := shell(t, use("a", "Bash", `{"command":"print 200000"}`))
	var order []string
	config, out := s.config, t.TempDir()
	s.config = func(c *engine.Config) {
		config(c)
		c.OutDir = out
		c.Commands = forgetful{cmds, func(what string) { order = append(order, what) }}
		c.Sync = func(f *os.File) error {
			name, err := filepath.Rel(out, f.Name())
			order = append(order, name)
			must(t, err)
			return f.Sync()
		}
	}
	p, se := s.start("go")
	se = restart(t, p, se)
	run(t, se)
	first := order[:min(4, len(order))]
	if want := []string{"s/t1.s1.b1.a1.out.tmp", "s", ".", "remove"}; !slices.Equal(first, want) {
		t.Errorf("order %q, want %q", order, want)
	}
}

// TestAStreamStaysUntilItsLossIsLogged: what an interrupted call has streamed tells what it took. It goes only once that
// is in the log.
func TestAStreamStaysUntilItsLossIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t)
		streaming := make(chan struct{})
		s.answer = func(ctx context.Context, _ int, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
			if !strings.HasSuffix(r.Act, ".a1") {
				return reply(modelapi.StopEndTurn, text("whole")), nil
			}
			sink(modelapi.Delta{Kind: modelapi.DeltaStart, Usage: model.Usage{Input: 37}})
			close(streaming)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		dir := t.TempDir()
		full := false
		s.config = func(c *engine.Config) { c.SideDir, c.Store = dir, refusing{c.Store, &full} }
		p, se := s.start("go")
		stop, over := background(t, se)
		<-streaming
		die(p, stop, over)
		p = s.process()
		se = p.open(engine.Options{})
		full = true // nothing is logged from here on
		if err := se.Run(t.Context()); err == nil {
			t.Error("the run of a dead store ended well")
		}
		p.store.Kill()
		full = false
		_ = se.Close(t.Context(), "")
		st := run(t, s.process().open(engine.Options{}))
		if got := st.Total().LostInput; got != 37 {
			t.Errorf("%d tokens are counted as lost, want the 37 that the stream said", got)
		}
	})
}

// refusing is a store that may be full.
type refusing struct {
	store.Store
	full *bool
}

func (r refusing) Append(ctx context.Context, l store.Lease, b store.Batch) error {
	if *r.full {
		return errors.New("the disk is full")
	}
	return r.Store.Append(ctx, l, b)
}

// snapshots counts the snapshots that are taken.
type snapshots struct {
	store.Store
	n *int
}

func (c snapshots) SaveSnapshot(ctx context.Context, id string, snap store.Snapshot) error {
	*c.n++
	return c.Store.SaveSnapshot(ctx, id, snap)
}

// TestALargeStateIsNotSavedOften: a snapshot is taken when the events since the last outweigh it.
func TestALargeStateIsNotSavedOften(t *testing.T) {
	s := newStage(t)
	taken := 0
	s.config = func(c *engine.Config) { c.Store = snapshots{c.Store, &taken} }
	_, se := s.start("go")
	user := store.Actor{Type: store.ActorUser}
	set := func(key string, size int) {
		must(t, se.Append(t.Context(), user, &session.StateSet{Key: key, Value: make([]byte, size)}))
	}
	set("large", 700<<10)
	before := taken
	for range 20 {
		set("small", 32<<10)
	}
	if got := taken - before; got > 1 {
		t.Errorf("%d snapshots of over 700 KiB for 640 KiB of events", got)
	}
	for range 40 {
		set("small", 32<<10)
	}
	if taken == before {
		t.Error("no snapshot is taken at all")
	}
}

// TestAnUnmeteredCallCostsAnUnknownSum, not nothing, although its price is known.
func TestAnUnmeteredCallCostsAnUnknownSum(t *testing.T) {
	r := reply(modelapi.StopEndTurn, text("done"))
	r.Usage, r.Unmetered = model.Usage{}, true
	s := newStage(t, r)
	s.spec = func(c *engine.Spec) { c.Agent.Price = &model.Price{Input: 3000, Output: 15000} }
	_, se := s.start("go")
	if st := run(t, se); st.Unpriced != 1 || st.Usage[0].Unpriced != 1 || st.Spent != 0 {
		t.Errorf("%d calls without a price, %d spent", st.Unpriced, st.Spent)
	}
}
