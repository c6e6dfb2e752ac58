package storetest

import (
	"bytes"

	"github.com/perdure/perdure/store"
)

var snapshotTests = []test{
	{"two are kept", snapshotTwo},
	{"fold version and position", snapshotSelection},
	{"readers", readers},
}

// snapshotTwo: the two saved last stay; one of the same place is replaced.
func snapshotTwo(e *env) {
	s := e.open()
	e.create(s, "a")
	if n, err := s.LoadSnapshot(e.ctx, "a", 1, 0); n != nil || err != nil {
		e.Errorf("a snapshot out of nothing: %+v, %v", n, err)
	}
	save := func(seq int64, state string) {
		e.must(s.SaveSnapshot(e.ctx, "a", store.Snapshot{Seq: seq, Hash: store.Sum([]byte(state)), FoldVersion: 1, State: []byte(state)}))
	}
	load := func(atMost int64) string {
		n, err := s.LoadSnapshot(e.ctx, "a", 1, atMost)
		e.must(err)
		if n == nil {
			return "none"
		}
		if n.Hash != store.Sum(n.State) || n.FoldVersion != 1 {
			e.Errorf("snapshot %+v", n)
		}
		return string(n.State)
	}
	save(10, "ten")
	save(20, "twenty")
	save(20, "twenty again")
	if load(0) != "twenty again" || load(19) != "ten" {
		e.Errorf("got %s and %s", load(0), load(19))
	}
	save(30, "thirty")
	if load(0) != "thirty" || load(29) != "twenty again" || load(19) != "none" {
		e.Errorf("got %s, %s, %s", load(0), load(29), load(19))
	}
	big := string(bytes.Repeat([]byte("0123456789"), 100_000))
	save(40, big)
	if load(0) != big {
		e.Error("a large state came back changed")
	}
}

// snapshotSelection: another fold version is not returned, and counts among the two.
func snapshotSelection(e *env) {
	s := e.open()
	e.create(s, "a")
	for _, n := range []store.Snapshot{{Seq: 5, FoldVersion: 1, State: []byte("1")}, {Seq: 5, FoldVersion: 2, State: []byte{}}} {
		e.must(s.SaveSnapshot(e.ctx, "a", n))
	}
	for version, want := range map[int]bool{1: true, 2: true, 3: false} {
		n, err := s.LoadSnapshot(e.ctx, "a", version, 5)
		e.must(err)
		if (n != nil) != want || n != nil && n.FoldVersion != version {
			e.Errorf("version %d: %+v", version, n)
		}
	}
	if n, err := s.LoadSnapshot(e.ctx, "a", 1, 4); n != nil || err != nil {
		e.Errorf("at most 4: %+v, %v", n, err)
	}
	e.must(s.SaveSnapshot(e.ctx, "a", store.Snapshot{Seq: 6, FoldVersion: 2}))
	if n, err := s.LoadSnapshot(e.ctx, "a", 1, 0); n != nil || err != nil {
		e.Errorf("a third snapshot is kept: %+v, %v", n, err)
	}
}

// readers: positions are kept by session, task and reader.
func readers(e *env) {
	s := e.open()
	e.create(s, "a")
	e.create(s, "b")
	set := map[[3]string]int64{{"a", "t", "r"}: 5, {"a", "t", "q"}: 6, {"a", "u", "r"}: 7, {"b", "t", "r"}: 8}
	for range 2 {
		for k, v := range set {
			e.must(s.SetReader(e.ctx, k[0], k[1], k[2], v))
		}
		for k, want := range set {
			got, err := s.Reader(e.ctx, k[0], k[1], k[2])
			e.must(err)
			if got != want {
				e.Errorf("%v: %d, want %d", k, got, want)
			}
			set[k] = want - 3 // It may go back: it is the reader's own.
		}
	}
	if got, err := s.Reader(e.ctx, "a", "t", "never"); got != 0 || err != nil {
		e.Errorf("never set: %d, %v", got, err)
	}
}
