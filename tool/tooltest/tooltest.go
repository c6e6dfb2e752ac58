// Package tooltest is the contract of [tool.Tool] as code. A program runs it for each of its tools, from a test:
//
//	tooltest.Run(t, myTool, tooltest.Case{Name: "a known city", Input: `{"city":"Jena"}`})
//
// Whatever the tool does, the suite looks that it describes itself, that it refuses bad input in words and never panics,
// that one which says it only reads changes nothing and says the same again, that a change or a command is only named and
// not made, and that it can be used by many at once.
package tooltest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/perdure/perdure/tool"
)

// Case is a call of the tool.
type Case struct {
	Name  string
	Input string            // JSON, as a model writes it
	Files map[string]string // what is in the working directory, by slash-separated path
	// Refused says that the tool answers with an error result; otherwise it must succeed.
	Refused bool
	// Changing says that what a tool of effect read says may differ the next time: a clock, a price.
	Changing bool
}

// Run runs the suite with these calls, one at least that succeeds, and with input that no tool takes.
func Run(t *testing.T, tl tool.Tool, cases ...Case) {
	t.Run("it describes itself", func(t *testing.T) { describes(t, tl) })
	good := 0
	for _, c := range cases {
		if !c.Refused {
			good++
		}
		t.Run(c.Name, func(t *testing.T) { runCase(t, tl, c) })
	}
	if good == 0 {
		t.Error("no case succeeds: what the tool does is not looked at")
	}
	t.Run("bad input is refused in words", func(t *testing.T) { refuses(t, tl) })
	for _, c := range cases {
		if !c.Refused {
			t.Run("many at once", func(t *testing.T) { atOnce(t, tl, c) })
			break
		}
	}
}

// describes: the name is one that APIs take, the schema is that of an object, the effect goes with what the tool can do.
func describes(t *testing.T, tl tool.Tool) {
	s := tl.Spec()
	if s.Name == "" || len(s.Name) > 128 || strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		t.Errorf("the name is %q: use letters, digits, _ and -, up to 128", s.Name)
	}
	if strings.TrimSpace(s.Description) == "" {
		t.Error("there is no description: the model does not know what the tool is for")
	}
	if s.Schema != "" {
		var schema struct {
			Type       string                     `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
		}
		if err := json.Unmarshal([]byte(s.Schema), &schema); err != nil || schema.Type != "object" {
			t.Errorf("the schema is not that of an object: %v: %s", err, s.Schema)
		}
		for _, name := range schema.Required {
			if _, ok := schema.Properties[name]; !ok {
				t.Errorf("the schema requires %q and does not describe it", name)
			}
		}
	}
	if again := tl.Spec(); again != s {
		t.Errorf("it describes itself otherwise the second time: %+v, %+v", s, again)
	}
	if err := fits(tl, s.Effect); err != nil {
		t.Error(err)
	}
}

// fits compares the effect with what the tool implements.
func fits(tl tool.Tool, e tool.Effect) error {
	var ok bool
	var want string
	switch e {
	case tool.EffectRead, tool.EffectExternal:
		_, ok = tl.(tool.Runner)
		want = "a Runner"
	case tool.EffectEdit:
		_, ok = tl.(tool.Changer)
		want = "a Changer"
	case tool.EffectProcess:
		_, ok = tl.(tool.Commander)
		want = "a Commander"
	case tool.EffectQuestion:
		_, ok = tl.(tool.Asker)
		want = "an Asker"
	default:
		return fmt.Errorf("there is no effect %q", e)
	}
	if !ok {
		return fmt.Errorf("a tool of effect %s is %s, and this one is not: %T", e, want, tl)
	}
	return nil
}
