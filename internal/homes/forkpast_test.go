package homes_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/perdure/perdure/internal/bundle"
	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/test/forge"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// claims are events of a stranger by which nothing has to be asked any more, and which say that they were here before
// they came.
func claims(dir string) []session.Body {
	mode, steps := "acceptEdits", 1000
	rules := &session.PermissionRules{Rules: []session.Rule{{Effect: "allow", Text: "Bash", Source: "user"}}}
	granted := &session.PermissionGranted{Rule: "Bash", Scope: "session", Cwd: dir}
	return []session.Body{
		granted, rules, &session.Configured{Mode: &mode, MaxSteps: &steps},
		&session.Imported{Root: "/stranger", Cwd: "/stranger", Since: 1 << 40}, granted, rules, &session.Configured{Mode: &mode},
		&session.App{Namespace: "x", Data: []byte("1")},
	}
}

// holds reports whether something need not be asked in a state because a log says so.
func holds(st *session.State) bool {
	return len(st.Permissions.Grants) > 0 || st.Config.Mode != "default" || !st.Claimed.Steps ||
		slices.ContainsFunc(st.Permissions.Rules, func(r session.Rule) bool { return r.Effect == "allow" })
}

// forks are the states of forks of a session at each of its events, by the command and by going back on the screen.
func forks(t *testing.T, h *homes.Home, id string, look func(seq int64, way string, st *session.State)) {
	t.Helper()
	for seq := int64(1); seq <= load(t, h, id).Head.Seq; seq++ {
		plain, at, err := h.Fork(t.Context(), id, seq, "", "")
		if err != nil || at != seq {
			t.Fatalf("fork at %d: %d, %v", seq, at, err)
		}
		look(seq, "fork", load(t, h, plain))
		back, err := h.ForkLike(t.Context(), id, id, seq, "")
		if err != nil {
			t.Fatal(err)
		}
		look(seq, "back", load(t, h, back))
		if again, _, err := h.Fork(t.Context(), plain, 1, "", ""); err != nil {
			t.Fatal(err)
		} else {
			look(seq, "fork of a fork", load(t, h, again))
		}
	}
}

// Goal: nothing that a stranger's log says that it is allowed holds in a fork of it either, wherever that begins, and it
// works where the session does.
func TestAForkOfWhatCameAllowsNothing(t *testing.T) {
	h, dir := openScripted(t, t.TempDir(), `{"turns":[]}`, nil), t.TempDir()
	defer func() { _ = h.Close() }()
	b := forge.Bundle{Bodies: append([]session.Body{forge.Opened("s")}, claims(dir)...)}
	if err := received(t, h, b.Bytes(t)).Import(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	forks(t, h, "s", func(seq int64, way string, st *session.State) {
		if holds(st) || st.Cwd != dir || st.Config.Root != dir || st.Lifecycle != session.LifecycleOpen || len(st.Faults) > 0 {
			t.Errorf("%s at %d: %+v, %+v in %s, %q", way, seq, st.Permissions, st.Config, st.Cwd, st.Faults)
		}
	})
}

// Goal: of a session that went away and came back, what was allowed here before holds in a fork from that time, and what
// came with it does not.
func TestAForkOfWhatWasHereKeepsItsRights(t *testing.T) {
	h, dir := openScripted(t, t.TempDir(), `{"turns":[]}`, nil), t.TempDir()
	defer func() { _ = h.Close() }()
	price := &model.Price{}
	if _, err := h.Create(t.Context(), engine.Spec{ID: "s", Agent: session.Agent{Provider: "scripted", Model: "m", Price: price}, Cwd: dir}); err != nil {
		t.Fatal(err)
	}
	mine := &session.PermissionGranted{Rule: "Bash(make)", Scope: "session", Cwd: dir}
	record := func() {
		r, err := h.Record(t.Context(), "s")
		if err == nil {
			_, err = r.Append(t.Context(), store.Actor{Type: store.ActorUser}, mine)
		}
		if err == nil {
			err = r.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var parts [][2]int64 // what came, each time
	for range 2 {
		record()
		here := load(t, h, "s").Head.Seq
		b := forge.Bundle{Past: events(t, h, "s"), Bodies: claims(dir)}.Bytes(t)
		a, err := h.Receive(t.Context(), bytes.NewReader(b), bundle.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Import(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, [2]int64{here + 1, load(t, h, "s").Head.Seq - 1})
	}
	record()
	checked := map[bool]int{}
	forks(t, h, "s", func(seq int64, way string, st *session.State) {
		came := slices.ContainsFunc(parts, func(p [2]int64) bool { return p[0] <= seq && seq <= p[1] })
		checked[came]++
		granted := slices.ContainsFunc(st.Permissions.Grants, func(g session.Grant) bool { return g.Rule == mine.Rule })
		if came && way != "back" && holds(st) || slices.ContainsFunc(st.Permissions.Grants, func(g session.Grant) bool { return g.Rule == "Bash" }) {
			t.Errorf("%s at %d: %+v, %+v", way, seq, st.Permissions, st.Config)
		}
		at := session.New("s")
		for _, ev := range events(t, h, "s")[:seq] {
			if err := at.Apply(ev); err != nil {
				t.Fatal(err)
			}
		}
		if had := len(at.Permissions.Grants) > 0; way == "fork" && !came && granted != had {
			t.Errorf("fork at %d: granted: %v, and it was: %v", seq, granted, had)
		}
	})
	if checked[true] < 40 || checked[false] < 15 {
		t.Errorf("looked at %v", checked)
	}
}
