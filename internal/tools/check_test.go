package tools_test

import (
	"context"
	"errors"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
)

type bare struct{ spec tools.Spec }

func (b bare) Spec() tools.Spec { return b.spec }

type able struct{ bare }

func (able) Run(context.Context, tools.Call, tools.Env) (tools.Result, error) {
	return tools.Result{}, nil
}

// Goal: tools that no model could call are refused before a session offers them.
func TestCheck(t *testing.T) {
	good := tools.Spec{Name: "weather", Schema: `{"type":"object"}`, Effect: session.EffectRead}
	with := func(change func(*tools.Spec)) []tools.Tool {
		s := good
		change(&s)
		return []tools.Tool{able{bare{s}}}
	}
	for name, list := range map[string][]tools.Tool{
		"nil":        {nil},
		"no name":    with(func(s *tools.Spec) { s.Name = "" }),
		"a space":    with(func(s *tools.Spec) { s.Name = "the weather" }),
		"broken":     with(func(s *tools.Spec) { s.Schema = "{nope" }),
		"no object":  with(func(s *tools.Spec) { s.Schema = "[]" }),
		"no effect":  with(func(s *tools.Spec) { s.Effect = "" }),
		"twice":      {able{bare{good}}, able{bare{good}}},
		"no ability": {bare{good}},
	} {
		if err := tools.Check(list); !errors.Is(err, tools.ErrBad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := tools.Check(append(tools.Builtin(), able{bare{good}})); err != nil {
		t.Error(err)
	}
}
