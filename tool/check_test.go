package tool_test

import (
	"context"
	"errors"
	"testing"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/tool"
)

type bare struct{ spec tool.Spec }

func (b bare) Spec() tool.Spec { return b.spec }

type able struct{ bare }

func (able) Run(context.Context, tool.Call, tool.Env) (tool.Result, error) { return tool.Result{}, nil }

// Goal: tools that no model could call are refused before a session offers them.
func TestCheck(t *testing.T) {
	good := tool.Spec{Name: "weather", Schema: `{"type":"object"}`, Effect: session.EffectRead}
	with := func(change func(*tool.Spec)) []tool.Tool {
		s := good
		change(&s)
		return []tool.Tool{able{bare{s}}}
	}
	for name, tools := range map[string][]tool.Tool{
		"nil":        {nil},
		"no name":    with(func(s *tool.Spec) { s.Name = "" }),
		"a space":    with(func(s *tool.Spec) { s.Name = "the weather" }),
		"broken":     with(func(s *tool.Spec) { s.Schema = "{nope" }),
		"no object":  with(func(s *tool.Spec) { s.Schema = "[]" }),
		"no effect":  with(func(s *tool.Spec) { s.Effect = "" }),
		"twice":      {able{bare{good}}, able{bare{good}}},
		"no ability": {bare{good}},
	} {
		if err := tool.Check(tools); !errors.Is(err, tool.ErrBad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := tool.Check(append(tool.Builtin(), able{bare{good}})); err != nil {
		t.Error(err)
	}
}
