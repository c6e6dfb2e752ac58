package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/store"
	"github.com/perdure/perdure/store/storetest"
)

// looker sees a home as another program does.
type looker struct {
	t *testing.T
	c *conn
}

func look(t *testing.T, home string) *looker {
	t.Helper()
	raw, err := native().connect(filepath.Join(home, databaseName), readOnly)
	if err != nil {
		t.Fatal(err)
	}
	return &looker{t, newConn(native(), raw)}
}

func (l *looker) shut() {
	if err := l.c.close(); err != nil {
		l.t.Error(err)
	}
}

// all is every row of every table.
func (l *looker) all() string {
	l.t.Helper()
	var all strings.Builder
	for _, table := range []string{"session", "listing", "label", "event", "inbox", "snapshot", "reader", "garbage", "shared"} {
		if err := l.c.query("SELECT * FROM "+table, nil, func(v []driver.Value) error {
			_, err := fmt.Fprintln(&all, table, v)
			return err
		}); err != nil {
			l.t.Fatal(err)
		}
	}
	return all.String()
}

// stage is a store whose statements fail, with the sessions that acts are done with.
type stage struct {
	t      *testing.T
	home   string
	faults failing
	s      *Store
	lease  store.Lease // of "held"
}

// enter opens the store and takes the session.
func (g *stage) enter() {
	g.t.Helper()
	g.s = mustOpen(g.t, g.home, Config{engine: g.faults.engine()})
	var err error
	if g.lease, err = g.s.Acquire(g.t.Context(), "held"); err != nil {
		g.t.Fatal(err)
	}
}

func newStage(t *testing.T) *stage {
	t.Helper()
	g := &stage{t: t, home: t.TempDir()}
	s := mustOpen(t, g.home, Config{})
	ctx := t.Context()
	for _, id := range []string{"held", "free", "gone", "back"} {
		l := newLog(t, s, id)
		l.must(3)
		_, err := s.Send(ctx, id, store.Item{Key: "k", Body: []byte("b")})
		err = errors.Join(err, s.SaveSnapshot(ctx, id, store.Snapshot{Seq: 2, State: []byte("s")}), s.SetReader(ctx, id, "t", "r", 5),
			s.Append(ctx, l.lease, store.Batch{Mark: 1, Heads: &store.Heads{Title: id, Labels: map[string]string{"k": id}}}))
		if err = errors.Join(err, s.Release(ctx, l.lease)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	g.enter()
	return g
}

// act is one call of a store. Run does it and looks at what it gives.
type act struct {
	name    string
	run     func(ctx context.Context, g *stage) error
	partly  bool // it is several transactions: what is done of it stays
	forgive string
}

// must is nil for an outcome that is as it should be.
func must(ok bool, err error, got any) error {
	if err == nil && !ok {
		return fmt.Errorf("it gives %+v", got)
	}
	return err
}

func head(l []store.Event) store.Head {
	return store.Head{Seq: int64(len(l)), Hash: l[len(l)-1].Hash}
}

func events(id string, n int) []store.Event { return storetest.Events(id, store.Head{}, n) }

// writes are the calls that write, in an order in which each has something to do.
func writes() []act {
	heads := store.Heads{Title: "new", Labels: map[string]string{"a": "1", "b": "2"}}
	shared := []store.Shared{{Scope: "s", Key: "k", Value: []byte("v")}, {Scope: "s", Key: "none"}}
	return []act{
		{name: "create", run: func(ctx context.Context, g *stage) error {
			past := events("free", 3)
			at := store.Position{Session: "free", Seq: 3, Hash: past[2].Hash}
			return g.s.Create(ctx, store.NewSession{
				ID: "fork", Parent: &at, Heads: heads, Shared: shared, Events: storetest.Events("fork", store.Head{Hash: at.Hash}, 2),
			})
		}},
		{name: "append", run: func(ctx context.Context, g *stage) error {
			more := storetest.Events("held", head(events("held", 3)), 2)
			return g.s.Append(ctx, g.lease, store.Batch{Events: more, Heads: &heads, Owner: "me", Mark: 1, Shared: shared})
		}},
		{name: "append to a session that nobody holds", run: func(ctx context.Context, g *stage) error {
			more := storetest.Events("free", head(events("free", 3)), 2)
			item := &store.Item{Key: "once", Digest: store.Sum([]byte("once"))}
			return g.s.AppendFree(ctx, "free", store.Batch{Events: more, Heads: &heads, Item: item, Shared: shared})
		}},
		{name: "import", run: func(ctx context.Context, g *stage) error {
			past, more := events("moved", 2), events("back", 5)
			here := head(more[:3])
			return g.s.Import(ctx,
				store.Imported{NewSession: store.NewSession{ID: "moved", Heads: heads}, Past: storedLog(past), Epoch: 7},
				store.Imported{NewSession: store.NewSession{ID: "back", Heads: heads, Events: more[4:]}, Past: storedLog(more[3:4]), Here: &here})
		}},
		{name: "send", run: func(ctx context.Context, g *stage) error {
			r, err := g.s.Send(ctx, "held", store.Item{Key: "next", Body: []byte("b")})
			return must(r.N == 2 && !r.Known, err, r)
		}},
		{name: "acquire", run: func(ctx context.Context, g *stage) error {
			l, err := g.s.Acquire(ctx, "free")
			return must(l.Epoch == 2, err, l)
		}},
		{name: "take over", run: func(ctx context.Context, g *stage) error { _, err := g.s.Takeover(ctx, "back"); return err }},
		{name: "release", run: func(ctx context.Context, g *stage) error { return g.s.Release(ctx, g.lease) }},
		{name: "save a snapshot", run: func(ctx context.Context, g *stage) error {
			return g.s.SaveSnapshot(ctx, "held", store.Snapshot{Seq: 3, State: []byte("s")})
		}},
		{name: "set a reader", run: func(ctx context.Context, g *stage) error { return g.s.SetReader(ctx, "gone", "t", "r", 6) }},
		{name: "delete", partly: true, run: func(ctx context.Context, g *stage) error {
			err := g.s.Delete(ctx, "gone")
			if errors.Is(err, store.ErrNotFound) { // only what is swept after it has failed
				_, err = g.s.Prune(ctx, 0)
			}
			return err
		}},
		{name: "prune", partly: true, run: func(ctx context.Context, g *stage) error { _, err := g.s.Prune(ctx, 1<<60); return err }},
		{name: "scrub", partly: true, run: func(ctx context.Context, g *stage) error { return g.s.Scrub(ctx) }},
	}
}

// reads are those that only read.
func reads() []act {
	return []act{
		{name: "pending", run: func(ctx context.Context, g *stage) error {
			items, err := g.s.Pending(ctx, "gone", 0, 0)
			return must(len(items) == 1, err, items)
		}},
		{name: "load a snapshot", run: func(ctx context.Context, g *stage) error {
			n, err := g.s.LoadSnapshot(ctx, "gone", 0, 0)
			return must(n != nil, err, n)
		}},
		{name: "reader", run: func(ctx context.Context, g *stage) error {
			n, err := g.s.Reader(ctx, "gone", "t", "r")
			return must(n == 5 || n == 6, err, n)
		}},
		{name: "get", run: func(ctx context.Context, g *stage) error {
			info, err := g.s.Get(ctx, "gone")
			return must(info.Head.Seq == 3, err, info)
		}},
		{name: "get nothing", run: func(ctx context.Context, g *stage) error {
			if _, err := g.s.Get(ctx, "none"); !errors.Is(err, store.ErrNotFound) {
				return must(false, err, "a session")
			}
			return nil
		}},
		{name: "list", run: func(ctx context.Context, g *stage) error {
			page, err := g.s.List(ctx, store.Query{Limit: 3})
			return must(len(page.Sessions) == 3, err, page)
		}},
		{name: "read", run: func(_ context.Context, g *stage) error {
			all, err := readAll(g.s, "gone")
			return must(same(all, events("gone", 3)), err, all)
		}},
		{name: "shared values", run: func(ctx context.Context, g *stage) error { _, err := g.s.Shared(ctx, "s"); return err }},
		{name: "check", run: func(ctx context.Context, g *stage) error {
			backend, faults, err := g.s.Check(ctx, 10)
			return must(backend != "" && len(faults) == 0, err, faults)
		}},
		{name: "look for losses", run: func(ctx context.Context, g *stage) error {
			lost, err := g.s.Lost(ctx)
			return must(len(lost) == 0, err, lost)
		}},
		{name: "back up", forgive: "PRAGMA query_only = ON", run: func(ctx context.Context, g *stage) error {
			dir := g.t.TempDir()
			if err := g.s.Backup(ctx, dir); err != nil {
				return err
			}
			copied, home := look(g.t, dir), look(g.t, g.home)
			defer copied.shut()
			defer home.shut()
			return must(copied.all() == home.all(), nil, "another copy")
		}},
	}
}

func storedLog(events []store.Event) func(func(store.Event, error) bool) {
	return func(yield func(store.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// TestEveryStatementFails: whichever statement of a call fails, the call says so and has changed nothing; done again
// without a fault it succeeds.
func TestEveryStatementFails(t *testing.T) {
	g := newStage(t)
	defer func() { _ = g.s.Close() }()
	table := look(t, g.home)
	defer table.shut()
	failures := 0
	for _, a := range append(reads(), writes()...) {
		for n := 1; ; n++ {
			before := table.all()
			g.faults.plant(n)
			err := a.run(t.Context(), g)
			hit := g.faults.found()
			if hit == "" {
				if err != nil {
					t.Errorf("%s: %v", a.name, err)
				}
				break
			}
			failures++
			switch {
			case err == nil && a.forgive == hit:
			case err == nil || !errors.Is(err, errPlanted):
				t.Errorf("%s: %q failed, and it says %v", a.name, hit, err)
			case !a.partly && table.all() != before:
				t.Errorf("%s: %q failed and something has changed", a.name, hit)
			}
			if errors.Is(err, store.ErrUncertain) { // the process would end
				if hit != "COMMIT" && hit != "ROLLBACK" {
					t.Errorf("%s: %q failed, and the outcome is uncertain", a.name, hit)
				}
				abandon(g.s)
				g.enter()
			}
		}
	}
	if failures < 150 {
		t.Errorf("only %d statements failed", failures)
	}
	all := table.all()
	for _, row := range []string{"new", "moved", "fork"} {
		if !strings.Contains(all, row) {
			t.Errorf("%q is not there", row)
		}
	}
	if strings.Contains(all, "garbage") || strings.Contains(all, "gone") {
		t.Error("something is not swept")
	}
}

// TestEveryStatementOfAnOpeningFails: so it is with opening a home, making it and writing to it for the first time; what
// only tidies up may fail. The home can be opened afterwards.
func TestEveryStatementOfAnOpeningFails(t *testing.T) {
	visit := func(home, id string, faults *failing) (opened bool, err error) {
		s, err := Open(t.Context(), home, Config{engine: faults.engine()})
		if err != nil {
			return false, err
		}
		opened = faults.hit == ""
		err = s.Create(t.Context(), store.NewSession{ID: id})
		faults.plant(0) // closing is not a part of it
		if errors.Is(err, store.ErrUncertain) {
			abandon(s) // the process would end
			return opened, err
		}
		return opened, errors.Join(err, s.Close())
	}
	used := t.TempDir()
	if _, err := visit(used, "first", &failing{}); err != nil {
		t.Fatal(err)
	}
	for _, fresh := range []bool{true, false} {
		failures := 0
		for n := 1; ; n++ {
			home := used
			if fresh {
				home = t.TempDir()
			}
			faults := &failing{}
			faults.plant(n)
			opened, err := visit(home, fmt.Sprint("s", n), faults)
			if faults.hit == "" || opened && faults.how != readWrite { // what tidies up looks by a connection that reads
				if err != nil {
					t.Errorf("%q: %v", faults.hit, err)
				}
			} else if failures++; !errors.Is(err, errPlanted) {
				t.Errorf("%q failed, and it says %v", faults.hit, err)
			}
			if _, err := visit(home, fmt.Sprint("after", n), &failing{}); err != nil {
				t.Errorf("after %q: %v", faults.hit, err)
			}
			if faults.hit == "" {
				break
			}
		}
		if failures < 25 {
			t.Errorf("only %d statements failed", failures)
		}
	}
}
