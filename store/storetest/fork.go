package storetest

import (
	"errors"
	"slices"

	"github.com/perdure/perdure/store"
)

var forkTests = []test{
	{"begins at the parent", forkBegins},
	{"refusals", forkRefusals},
	{"children protect their parent", forkChildren},
}

// forkBegins: a child has no events of its own, and its chain begins at the parent's hash.
func forkBegins(e *env) {
	s := e.open()
	e.create(s, "p")
	w := e.acquire(s, "p")
	e.must(w.append(e.ctx, 5))
	at := store.Position{Session: "p", Seq: 3, Hash: w.acked[2].Hash}
	e.must(s.Create(e.ctx, store.NewSession{ID: "c", Parent: &at}))
	e.must(w.append(e.ctx, 2))
	info := e.get(s, "c")
	if info.Parent == nil || *info.Parent != at || info.Head != (store.Head{Hash: at.Hash}) || info.Epoch != 0 {
		e.Errorf("row of the child: %+v", info)
	}
	child := e.acquire(s, "c")
	e.must(child.append(e.ctx, 2))
	if got := e.log(s, "c"); len(got) != 2 || got[0].Seq != 1 || store.Verify(at.Hash, "c", got[0]) != nil {
		e.Errorf("log of the child: %+v", got)
	}
	grand := child.position()
	e.must(s.Create(e.ctx, store.NewSession{ID: "g", Parent: &grand}))
	if got := e.get(s, "g").Parent; *got != grand {
		e.Errorf("parent of the grandchild: %+v", got)
	}
	start := store.Position{Session: "c", Hash: at.Hash}
	e.must(s.Create(e.ctx, store.NewSession{ID: "from-the-start", Parent: &start}))
}

// forkRefusals: no parent, another hash, beyond the head.
func forkRefusals(e *env) {
	s := e.open()
	e.create(s, "p")
	w := e.acquire(s, "p")
	e.must(w.append(e.ctx, 2))
	for name, tt := range map[string]struct {
		at   store.Position
		want error
	}{
		"no parent": {store.Position{Session: "no", Seq: 1}, store.ErrNotFound},
		"hash":      {store.Position{Session: "p", Seq: 2, Hash: w.acked[0].Hash}, store.ErrConflict},
		"beyond":    {store.Position{Session: "p", Seq: 3, Hash: w.acked[1].Hash}, store.ErrConflict},
		"negative":  {store.Position{Session: "p", Seq: -1}, store.ErrConflict},
		"start":     {store.Position{Session: "p", Hash: w.acked[0].Hash}, store.ErrConflict},
	} {
		if err := s.Create(e.ctx, store.NewSession{ID: "c", Parent: &tt.at}); !errors.Is(err, tt.want) {
			e.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Get(e.ctx, "c"); !errors.Is(err, store.ErrNotFound) {
		e.Errorf("a refused child exists: %v", err)
	}
}

// forkChildren: a parent stays as long as it has children, and the refusal names them.
func forkChildren(e *env) {
	s := e.open()
	e.create(s, "p")
	w := e.acquire(s, "p")
	e.must(w.append(e.ctx, 1))
	at := w.position()
	e.must(s.Release(e.ctx, w.lease))
	for _, id := range []string{"c2", "c1"} {
		e.must(s.Create(e.ctx, store.NewSession{ID: id, Parent: &at}))
	}
	var refused *store.ChildrenError
	if err := s.Delete(e.ctx, "p"); !errors.As(err, &refused) || !slices.Equal(refused.Children, []string{"c1", "c2"}) {
		e.Errorf("delete of the parent: %v", err)
	}
	e.must(s.Delete(e.ctx, "c1"))
	e.must(s.Delete(e.ctx, "c2"))
	e.must(s.Delete(e.ctx, "p"))
	if err := s.Create(e.ctx, store.NewSession{ID: "late", Parent: &at}); !errors.Is(err, store.ErrNotFound) {
		e.Errorf("fork of a deleted parent: %v", err)
	}
}
