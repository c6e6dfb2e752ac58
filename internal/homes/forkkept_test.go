package homes_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Goal: who goes back in a conversation has afterwards the mode, the model, the limits, the directories and the
// permissions that they have now: not those of then, which were forgotten elsewhere, and never more. What was taken
// back since is not allowed again; the mode in which nothing asks is no fork's.
func TestWhoGoesBackKeepsWhatHoldsNow(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	h, err := homes.Open(t.Context(), t.TempDir(), homes.Config{Provider: func(string) (modelapi.Provider, error) { return puppet{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := h.Create(t.Context(), engine.Spec{ID: "s", Agent: session.Agent{Provider: "mine", Model: "m1"}, Cwd: dir, Mode: permission.ModeAcceptEdits}); err != nil {
		t.Fatal(err)
	}
	with := func(opt engine.Options, bodies ...session.Body) {
		t.Helper()
		s, err := h.Hold(t.Context(), "s", homes.HoldOptions{Options: opt})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := h.Record(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Append(t.Context(), store.Actor{Type: store.ActorUser}, bodies...); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	flag := func(effect, text string) session.Rule {
		return session.Rule{Effect: effect, Text: text, Source: permission.SourceFlag}
	}
	granted := func(rule, cwd string) session.Body {
		return &session.PermissionGranted{Rule: rule, Scope: "session", Cwd: cwd}
	}
	with(engine.Options{}, granted("Bash(rm:*)", dir), granted("Bash(ls:*)", dir), granted("Bash(ls:*)", other), granted("Bash(cat:*)", dir))
	then, err := h.State(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	steps, budget, at, off, patience := 7, int64(5e9), 600, true, time.Minute
	with(engine.Options{
		Mode: permission.ModePlan, Agent: &session.Agent{Provider: "mine", Model: "m2", MaxTokens: 9, Window: 99}, MaxSteps: &steps, BudgetNano: &budget,
		CompactAt: &at, NoCompact: &off, RetryFor: &patience, OnLost: session.OnLostAsk, AddDirs: []string{other},
		SetRules: true, Rules: []session.Rule{flag("deny", "Bash(curl:*)"), flag("allow", "Bash(go:*)")},
	}, &session.PermissionRevoked{Rule: "Bash(rm:*)"}, &session.PermissionRevoked{Rule: "Bash(ls:*)"}, granted("Bash(ls:*)", other), granted("Bash(make:*)", dir))
	now, err := h.State(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}

	child, err := h.ForkLike(t.Context(), "s", "s", then.Head.Seq, "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := h.State(t.Context(), child)
	if err != nil {
		t.Fatal(err)
	}
	holds := func(st *session.State) string {
		var allowed []string
		for _, g := range st.Permissions.Grants {
			allowed = append(allowed, g.Rule+" in "+g.Cwd)
		}
		slices.Sort(allowed)
		patience := int64(-1)
		if ms := st.Config.RetryForMS; ms != nil {
			patience = *ms
		}
		return fmt.Sprint(st.Config.Mode, st.Agent.Model, st.Config.MaxSteps, st.Config.BudgetNano, st.Config.CompactAt, st.Config.NoCompact, patience,
			st.Config.OnLost, st.Directories, allowed)
	}
	if holds(got) != holds(now) || !reflect.DeepEqual(got.Permissions.Rules, now.Permissions.Rules) || got.Permissions.Digest != now.Permissions.Digest {
		t.Errorf("the fork has\n%s\n%v, now there is\n%s\n%v", holds(got), got.Permissions.Rules, holds(now), now.Permissions.Rules)
	}
	if len(got.Faults) > 0 || got.Parent.Seq > then.Head.Seq {
		t.Errorf("%+v at %d", got.Faults, got.Parent.Seq)
	}

	plain, _, err := h.Fork(t.Context(), "s", then.Head.Seq, "", "")
	if err != nil {
		t.Fatal(err)
	}
	want := then.Copy()
	want.Permissions.Grants = []session.Grant{{Rule: "Bash(ls:*)", Cwd: other}, {Rule: "Bash(cat:*)", Cwd: dir}}
	if got := load(t, h, plain); holds(got) != holds(want) || got.Config.Mode != then.Config.Mode {
		t.Errorf("a fork has\n%s\nof then there is left\n%s", holds(got), holds(want))
	}

	bypass, err := h.Hold(t.Context(), "s", homes.HoldOptions{Options: engine.Options{Mode: permission.ModeBypass}})
	if err != nil {
		t.Fatal(err)
	}
	for _, seq := range []int64{0, then.Head.Seq} {
		child, err := h.ForkLike(t.Context(), "s", "s", seq, "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.State(t.Context(), child); err != nil || got.Config.Mode == string(permission.ModeBypass) {
			t.Errorf("a fork has the mode %s: %v", got.Config.Mode, err)
		}
	}
	if err := bypass.Close(); err != nil {
		t.Error(err)
	}
}
