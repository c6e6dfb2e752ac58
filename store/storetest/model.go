package storetest

import (
	"errors"
	"fmt"
	"reflect"

	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/memory"
	"github.com/perdure/perdure/store"
)

var modelTests = []test{{"random histories agree with the memory store", modelHistories}}

// pair is a store and the memory store that does the same.
type pair struct {
	real  store.Store
	model *memory.Store
	lease map[string][2]store.Lease // by session, newest
}

// machine runs random commands on both sides and compares everything that can be seen.
type machine struct {
	*env
	model  *memory.Home
	pairs  []*pair
	ids    []string
	latest map[string]store.Head
	times  []int64 // before which may be pruned
}

// modelHistories: the store does what the memory store does, through openings, kills and takeovers.
func modelHistories(e *env) {
	next := 0
	rapid.Check(e.t, func(t *rapid.T) {
		next++ // One home serves all histories: each has sessions of its own.
		m := &machine{env: e, model: &memory.Home{}, latest: map[string]store.Head{}, times: []int64{0, farFuture}}
		for i := range 3 {
			m.ids = append(m.ids, fmt.Sprintf("h%d.%d", next, i))
		}
		defer func() {
			for _, p := range m.pairs {
				_ = p.real.Close()
			}
		}()
		m.open()
		if _, err := m.pairs[0].real.Prune(m.ctx, farFuture); err != nil { // what other histories have drained
			t.Fatal(err)
		}
		t.Repeat(map[string]func(*rapid.T){
			"":         m.check,
			"open":     func(*rapid.T) { m.open() },
			"close":    m.closeOne,
			"kill":     m.killOne,
			"create":   m.createOne,
			"delete":   m.deleteOne,
			"acquire":  func(t *rapid.T) { m.take(t, false) },
			"takeover": func(t *rapid.T) { m.take(t, true) },
			"release":  m.releaseOne,
			"append":   m.appendOne,
			"append2":  m.appendOne, // Twice as likely as the others.
			"send":     m.sendOne,
			"time":     func(*rapid.T) { m.times = append(m.times, m.home.moment()) },
			"prune":    m.pruneOne,
			"snapshot": m.snapshotOne,
		})
	})
}

func (m *machine) open() {
	if len(m.pairs) < 3 {
		m.pairs = append(m.pairs, &pair{real: m.home.Open(m.TB), model: m.model.Open(), lease: map[string][2]store.Lease{}})
	}
}

func (m *machine) pick(t *rapid.T) (*pair, string) {
	return rapid.SampledFrom(m.pairs).Draw(t, "store"), rapid.SampledFrom(m.ids).Draw(t, "session")
}

func (m *machine) closeOne(t *rapid.T) {
	i := rapid.IntRange(0, len(m.pairs)-1).Draw(t, "store")
	m.same(t, m.pairs[i].real.Close(), m.pairs[i].model.Close())
	m.drop(i)
}

func (m *machine) killOne(t *rapid.T) {
	i := rapid.IntRange(0, len(m.pairs)-1).Draw(t, "store")
	m.home.Kill(m.TB, m.pairs[i].real)
	m.pairs[i].model.Kill()
	m.drop(i)
}

func (m *machine) drop(i int) {
	m.pairs = append(m.pairs[:i], m.pairs[i+1:]...)
	if len(m.pairs) == 0 {
		m.open()
	}
}

func (m *machine) createOne(t *rapid.T) {
	p, id := m.pick(t)
	n := store.NewSession{ID: id, Created: rapid.Int64Range(0, 5).Draw(t, "created"), Heads: drawHeads(t)}
	if parent := rapid.SampledFrom(m.ids).Draw(t, "parent"); parent != id && rapid.Bool().Draw(t, "fork") {
		h := m.latest[parent]
		n.Parent = &store.Position{Session: parent, Seq: h.Seq, Hash: h.Hash}
	}
	base := store.Head{}
	if n.Parent != nil {
		base.Hash = n.Parent.Hash
	}
	n.Events = Events(id, base, rapid.IntRange(0, 2).Draw(t, "events"))
	err := p.real.Create(m.ctx, n)
	m.same(t, err, p.model.Create(m.ctx, n))
	if k := len(n.Events); err == nil && k > 0 {
		m.latest[id] = store.Head{Seq: n.Events[k-1].Seq, Hash: n.Events[k-1].Hash}
	}
}

func drawHeads(t *rapid.T) store.Heads {
	h := store.Heads{Title: rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "title")}
	if v := rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "label"); v != "" {
		h.Labels = map[string]string{"k": v}
	}
	return h
}

func (m *machine) deleteOne(t *rapid.T) {
	p, id := m.pick(t)
	err := p.real.Delete(m.ctx, id)
	m.same(t, err, p.model.Delete(m.ctx, id))
	if err == nil {
		delete(m.latest, id)
	}
}

func (m *machine) take(t *rapid.T, force bool) {
	p, id := m.pick(t)
	acquire := [2]func() (store.Lease, error){
		func() (store.Lease, error) { return p.real.Acquire(m.ctx, id) },
		func() (store.Lease, error) { return p.model.Acquire(m.ctx, id) },
	}
	if taker, ok := p.real.(store.Taker); ok && force {
		acquire[0] = func() (store.Lease, error) { return taker.Takeover(m.ctx, id) }
		acquire[1] = func() (store.Lease, error) { return p.model.Takeover(m.ctx, id) }
	}
	a, errA := acquire[0]()
	b, errB := acquire[1]()
	m.same(t, errA, errB)
	if errA != nil {
		return
	}
	if a.Epoch != b.Epoch || a.Info.Head != b.Info.Head {
		t.Fatalf("lease %+v, model %+v", a, b)
	}
	p.lease[id] = [2]store.Lease{a, b}
}

func (m *machine) releaseOne(t *rapid.T) {
	p, id := m.pick(t)
	if l, ok := p.lease[id]; ok {
		m.same(t, p.real.Release(m.ctx, l[0]), p.model.Release(m.ctx, l[1]))
	}
}

func (m *machine) appendOne(t *rapid.T) {
	p, id := m.pick(t)
	l, ok := p.lease[id]
	if !ok {
		return
	}
	head := m.latest[id]
	if head == (store.Head{}) {
		head = l[1].Info.Head
	}
	head.Seq += int64(rapid.SampledFrom([]int{0, 0, 0, 0, 1}).Draw(t, "gap"))
	b := store.Batch{Events: Events(id, head, rapid.IntRange(0, 3).Draw(t, "events"))}
	b.Mark = rapid.Int64Range(0, 3).Draw(t, "mark")
	if rapid.Bool().Draw(t, "set heads") {
		h := drawHeads(t)
		b.Heads = &h
	}
	b.Release = rapid.IntRange(0, 9).Draw(t, "release") == 0
	b.Owner = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "owner")
	err := p.real.Append(m.ctx, l[0], b)
	m.same(t, err, p.model.Append(m.ctx, l[1], b))
	if n := len(b.Events); err == nil && n > 0 {
		m.latest[id] = store.Head{Seq: b.Events[n-1].Seq, Hash: b.Events[n-1].Hash}
	}
}

func (m *machine) sendOne(t *rapid.T) {
	p, id := m.pick(t)
	it := newItem(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key"), rapid.SampledFrom([]string{"1", "2"}).Draw(t, "body"))
	a, errA := p.real.Send(m.ctx, id, it)
	b, errB := p.model.Send(m.ctx, id, it)
	m.same(t, errA, errB)
	if a != b {
		t.Fatalf("receipt %+v, model %+v", a, b)
	}
}

func (m *machine) pruneOne(t *rapid.T) {
	p, _ := m.pick(t)
	before := rapid.SampledFrom(m.times).Draw(t, "before")
	a, errA := p.real.Prune(m.ctx, before)
	b, errB := p.model.Prune(m.ctx, before)
	m.same(t, errA, errB)
	if a != b {
		t.Fatalf("pruned %d, model %d", a, b)
	}
}

func (m *machine) snapshotOne(t *rapid.T) {
	p, id := m.pick(t)
	n := store.Snapshot{Seq: rapid.Int64Range(1, 5).Draw(t, "seq"), FoldVersion: 1, State: []byte{1}}
	m.same(t, p.real.SaveSnapshot(m.ctx, id, n), p.model.SaveSnapshot(m.ctx, id, n))
}

// same compares the refusals; what is no refusal must not happen.
func (m *machine) same(t *rapid.T, got, want error) {
	t.Helper()
	a, errA := named(got)
	b, errB := named(want)
	var children, modelChildren *store.ChildrenError
	if errors.As(got, &children) && errors.As(want, &modelChildren) {
		if !reflect.DeepEqual(children, modelChildren) {
			t.Fatalf("got %v, model %v", got, want)
		}
		return
	}
	if errA != nil || errB != nil || a != b {
		t.Fatalf("got %v, model %v", got, want)
	}
}

// check compares all that can be read, through every open store.
func (m *machine) check(t *rapid.T) {
	for _, p := range m.pairs {
		for _, id := range m.ids {
			a, errA := p.real.Get(m.ctx, id)
			b, errB := p.model.Get(m.ctx, id)
			m.same(t, errA, errB)
			if (a.Holder == nil) != (b.Holder == nil) || a.Holder != nil && a.Holder.Alive != b.Holder.Alive {
				t.Fatalf("holder of %s is %+v, model %+v", id, a.Holder, b.Holder)
			}
			a.Holder, b.Holder = nil, nil
			if !reflect.DeepEqual(a, b) {
				t.Fatalf("row is  %+v\nmodel's %+v", a, b)
			}
			if errA == nil {
				m.checkContents(t, p, id)
			}
		}
	}
}

func (m *machine) checkContents(t *rapid.T, p *pair, id string) {
	a, errA := m.env.read(p.real, id, 1, 0)
	b, errB := m.env.read(p.model, id, 1, 0)
	if errA != nil || errB != nil || !reflect.DeepEqual(a, b) {
		t.Fatalf("log of %s: %d events, %v; model %d, %v", id, len(a), errA, len(b), errB)
	}
	itemsA, errA := p.real.Pending(m.ctx, id, 0, 0)
	itemsB, errB := p.model.Pending(m.ctx, id, 0, 0)
	if errA != nil || errB != nil || !reflect.DeepEqual(itemsA, itemsB) {
		t.Fatalf("inbox of %s: %+v, %v; model %+v, %v", id, itemsA, errA, itemsB, errB)
	}
	nA, errA := p.real.LoadSnapshot(m.ctx, id, 1, 0)
	nB, errB := p.model.LoadSnapshot(m.ctx, id, 1, 0)
	if errA != nil || errB != nil || !reflect.DeepEqual(nA, nB) {
		t.Fatalf("snapshot of %s: %+v, %v; model %+v, %v", id, nA, errA, nB, errB)
	}
}
