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
	// Changing says that what a tool that only reads says may differ the next time: a clock, a price.
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

// describes: the name is one that APIs take, the schema is that of an object, and it is of one form.
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
	if err := fits(tl); err != nil {
		t.Error(err)
	}
}

// fits looks that the tool is of one form, and that only a Runner says what its effect is.
func fits(tl tool.Tool) error {
	var forms []string
	if _, ok := tl.(tool.Runner); ok {
		forms = append(forms, "Runner")
	}
	if _, ok := tl.(tool.Changer); ok {
		forms = append(forms, "Changer")
	}
	if _, ok := tl.(tool.Commander); ok {
		forms = append(forms, "Commander")
	}
	if _, ok := tl.(tool.Asker); ok {
		forms = append(forms, "Asker")
	}
	switch s := tl.Spec(); {
	case len(forms) != 1:
		return fmt.Errorf("a tool is one of Runner, Changer, Commander and Asker; %T is %v", tl, forms)
	case forms[0] != "Runner" && (s.ReadOnly || s.Idempotent):
		return fmt.Errorf("ReadOnly and Idempotent are a Runner's; %T is %v", tl, forms)
	}
	return nil
}
