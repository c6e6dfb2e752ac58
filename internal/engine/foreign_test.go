package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Goal: a provider that returns nothing at all, or panics, is a failed call; the process and the turn live on.
func TestBrokenProviderIsAFailedCall(t *testing.T) {
	for name, broken := range map[string]func() (*modelapi.Response, error){
		"nothing": func() (*modelapi.Response, error) { return nil, nil },
		"panic":   func() (*modelapi.Response, error) { panic("no such thing") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t)
				tries := 0
				s.answer = func(context.Context, int, modelapi.Request, func(modelapi.Delta)) (*modelapi.Response, error) {
					if tries++; tries == 1 {
						return broken()
					}
					return reply(modelapi.StopEndTurn, text("ok")), nil
				}
				_, se := s.start("go")
				if st := run(t, se); st.LastTurn == nil || st.LastTurn.Stop != session.TurnEndTurn || tries != 2 {
					t.Errorf("turn %+v after %d tries", st.Turn, tries)
				}
			})
		})
	}
}

// panicking is a tool that breaks down at one place.
type panicking struct {
	effect session.Effect
	early  bool
}

func (p panicking) Spec() tools.Spec {
	return tools.Spec{Name: "Odd", Schema: `{"type":"object"}`, Effect: p.effect}
}

func (p panicking) Pattern(tools.Call) string {
	if p.early {
		panic("too early")
	}
	return ""
}

func (panicking) Run(context.Context, tools.Call, tools.Env) (tools.Result, error) { panic("late") }

// A tool that panics has failed, and the model is told; what an effect outside came to is unknown.
func TestPanickingToolIsAFailedAct(t *testing.T) {
	for _, tt := range []struct {
		tool panicking
		want session.Outcome
		says string
	}{
		{panicking{effect: session.EffectRead}, session.OutcomeError, "panic: late"},
		{panicking{effect: session.EffectExternal}, session.OutcomeUnknown, "panic: late"},
		{panicking{effect: session.EffectRead, early: true}, session.OutcomeError, "panic: too early"},
	} {
		s := newStage(t, reply(modelapi.StopToolUse, use("a", "Odd", `{}`)), reply(modelapi.StopEndTurn, text("done")))
		s.tools = append(s.tools, tt.tool)
		p, se := s.start("go")
		if err := se.Close(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		se = p.open(engine.Options{SetRules: true, Rules: []session.Rule{{Effect: "allow", Text: "Odd", Source: "user"}}})
		st := run(t, se)
		if st.LastTurn == nil || st.Settled[0].Outcome != tt.want {
			t.Fatalf("turn %+v, settled %+v", st.Turn, st.Settled)
		}
		if got := render(s.last().Messages); !strings.Contains(got, tt.says) {
			t.Errorf("the model was told %s", got)
		}
	}
}

// Goal: what could not work is refused at the door, by its own error.
func TestDoorRefuses(t *testing.T) {
	s := newStage(t)
	p, se := s.start("go")
	for name, tt := range map[string]struct {
		spec engine.Spec
		want error
	}{
		"an id that leaves the home": {engine.Spec{ID: "../../escaped", Cwd: "/w"}, store.ErrBadID},
		"bypass":                     {engine.Spec{ID: "b", Cwd: "/w", Mode: permission.ModeBypass}, engine.ErrSpec},
		"a mode that is none":        {engine.Spec{ID: "b", Cwd: "/w", Mode: "odd"}, permission.ErrMode},
		"a relative directory":       {engine.Spec{ID: "b", Cwd: "w"}, engine.ErrSpec},
		"a relative added directory": {engine.Spec{ID: "b", Cwd: "/w", Dirs: []string{"x"}}, engine.ErrSpec},
	} {
		if _, err := p.Create(t.Context(), tt.spec); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := p.Fork(t.Context(), "s", 0, "../child", ""); !errors.Is(err, store.ErrBadID) {
		t.Errorf("fork: %v", err)
	}
	head := se.State().Head.Seq
	if _, _, err := p.Fork(t.Context(), "s", head+1, "", ""); !errors.Is(err, engine.ErrBeyond) || errors.Is(err, store.ErrNotFound) {
		t.Errorf("fork beyond the head: %v", err)
	}
}
