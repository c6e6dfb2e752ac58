package session_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// Every name of a kind has its row in the table, and every row a body of its own whose parts, summary and JSON are
// there, whatever its fields hold.
func TestEveryKindIsDeclared(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "kind.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		for i := 0; ok && i < len(spec.Values); i++ {
			if lit, ok := spec.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				named++
				if name, _ := strconv.Unquote(lit.Value); !slices.Contains(kinds, store.Kind(name)) {
					t.Errorf("kind %s has no row", name)
				}
			}
		}
		return true
	})
	if named != len(kinds) {
		t.Errorf("%d kinds are named, %d have a row", named, len(kinds))
	}
	src := series{rand.New(rand.NewPCG(1, 1))}
	for _, k := range kinds {
		for range 20 {
			body := emptyBody(k)
			fill(src, reflect.ValueOf(body).Elem())
			if got := session.KindOf(body); got != k {
				t.Fatalf("the body of %s is of kind %s", k, got)
			}
			chain := session.Chain{Session: "s"}
			e, err := chain.Event(store.Actor{Type: store.ActorEngine}, 1, body)
			if err != nil {
				t.Fatal(err)
			}
			session.Summary(e)
			if _, err := json.Marshal(session.EventView(e, nil)); err != nil {
				t.Errorf("%s: %v", k, err)
			}
		}
	}
}

// TestApplyIsTotal folds random events of all kinds in random order. Nothing may panic, the live state is the
// refolded one, a snapshot is the state exactly, folding goes on from it, and Next and its relatives hold.
func TestApplyIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var events []store.Event
		live, tr := session.New("s"), &session.Transcript{}
		src := seeded(t)
		n := rapid.IntRange(1, 60).Draw(t, "events")
		cut := rapid.IntRange(0, n).Draw(t, "snapshot at")
		var snapshot []byte
		for i := range n {
			if i == cut {
				snapshot = []byte(asJSON(live))
			}
			body := randomBody(src)
			chain := session.Chain{Session: "s", Head: live.Head}
			e, err := chain.Event(engine, int64(src.number(10)), body)
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
			live.ApplyBody(e, body)
			tr.Apply(e, body)
			survive(t, src, live, tr)
		}
		again, err := session.Fold("s", events)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := asJSON(live), asJSON(again); a != b {
			t.Fatalf("live\n%s\nrefolded\n%s", a, b)
		}
		if snapshot == nil {
			return
		}
		restored := &session.State{}
		if err := json.Unmarshal(snapshot, restored); err != nil {
			t.Fatal(err)
		}
		if s := asJSON(restored); s != string(snapshot) {
			t.Fatalf("the snapshot\n%s\ncame back as\n%s", snapshot, s)
		}
		for _, e := range events[cut:] {
			if err := restored.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := asJSON(live), asJSON(restored); a != b {
			t.Fatalf("folded\n%s\nfolded from a snapshot\n%s", a, b)
		}
	})
}

// survive asks everything that can be asked of a state; none of it may change it.
func survive(t *rapid.T, src source, s *session.State, tr *session.Transcript) {
	before := asJSON(s)
	if a, b := actionLines(session.Next(s)), actionLines(session.Next(s)); a != b {
		t.Fatalf("Next gives\n%sand then\n%s", a, b)
	}
	if err := uniqueActions(session.Next(s)); err != nil {
		t.Fatal(err)
	}
	session.ActivityOf(s)
	session.Waits(s)
	s.Halt()
	s.SettledNow()
	s.Total()
	tr.Messages()
	tr.Upcoming()
	tr.LastText()
	messageLines(tr.Upcoming())

	// Whatever happens to a view and a fork, the state stays as it is.
	view, child := s.View(), session.Fork(s, "child")
	for _, c := range []*session.State{view, child} {
		chain := session.Chain{Session: c.ID, Head: c.Head}
		for _, b := range []session.Body{
			&session.Forked{Parent: store.Position{Session: "s", Seq: 3}, ID: "child"},
			randomBody(src), &session.Resumed{Epoch: 1}, &session.StateSet{Key: "x", Value: []byte("y")},
			&session.Labelled{Labels: map[string]string{"x": "", "y": "z"}}, randomBody(src),
		} {
			e, err := chain.Event(engine, 1, b)
			if err != nil {
				t.Fatal(err)
			}
			c.ApplyBody(e, b)
		}
		session.Next(c)
	}
	if after := asJSON(s); after != before {
		t.Fatalf("the state\n%s\nwas changed to\n%s", before, after)
	}
}
