package tooltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/tool"
	"github.com/perdure/perdure/tool/tooltest"
)

type cityIn struct {
	City string `json:"city"`
	Days int    `json:"days,omitempty"`
}

func weather(context.Context, cityIn) (string, error) { return "rain", nil }

// Goal: a tool of a function keeps the contract.
func TestFunc(t *testing.T) {
	tooltest.Run(t, tool.Func(tool.Spec{Name: "weather", Description: "Says how the weather is.", ReadOnly: true}, weather),
		tooltest.Case{Name: "a city", Input: `{"city":"Jena","days":3}`}, tooltest.Case{Name: "no city", Input: `{"days":3}`, Refused: true})
	tooltest.Run(t, tool.Func(tool.Spec{Name: "order", Description: "Orders an umbrella."}, func(_ context.Context, in cityIn) (string, error) {
		if in.City == "nowhere" {
			return "", errors.New("nobody delivers there")
		}
		return "ordered", nil
	}), tooltest.Case{Name: "a city", Input: `{"city":"Jena"}`}, tooltest.Case{Name: "nowhere", Input: `{"city":"nowhere"}`, Refused: true})
}

// upper is what the Changer, the Commander and the Asker below have in common. Fault plants a mistake.
type upper struct{ fault string }

func (u upper) Spec() tool.Spec {
	s := tool.Spec{Name: "upper", Description: "Makes a file upper case.", Schema: `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`}
	switch u.fault {
	case "name":
		s.Name = "up per"
	case "schema":
		s.Schema = `{"type":"array"}`
	case "undescribed":
		s.Schema = `{"type":"object","required":["path"]}`
	case "effect":
		s.ReadOnly = true
	case "mute":
		s.Description = ""
	}
	return s
}

// path reads the input.
func (u upper) path(c tool.Call) (string, *tool.Result) {
	var in struct {
		Path *string `json:"path"`
	}
	if err := json.Unmarshal(c.Input, &in); err != nil || in.Path == nil {
		if u.fault == "panics" {
			panic("no path")
		}
		said := `The input needs "path", a text.`
		if u.fault == "silent" {
			said = ""
		}
		return "", &tool.Result{IsError: u.fault != "takes", Content: []model.Part{model.TextPart(said)}}
	}
	return *in.Path, nil
}

type changer struct{ upper }

func (u changer) Path(c tool.Call) string {
	path, _ := u.path(c)
	return path
}

func (u changer) Change(_ context.Context, c tool.Call, env tool.Env, old []byte) (*tool.Change, *tool.Result, error) {
	if _, refusal := u.path(c); refusal != nil {
		return nil, refusal, nil
	}
	if u.fault == "writes" {
		_ = os.WriteFile(env.Target, []byte("written"), 0o600)
	}
	if u.fault == "files" {
		_ = os.WriteFile(filepath.Join(env.Cwd, "log"), []byte("x"), 0o600)
	}
	return &tool.Change{Content: []byte(strings.ToUpper(string(old))), Said: "done"}, nil, nil
}

type commander struct{ upper }

func (u commander) Command(c tool.Call) (*tool.Command, *tool.Result) {
	path, refusal := u.path(c)
	if refusal != nil {
		return nil, refusal
	}
	if u.fault == "empty" {
		return &tool.Command{}, nil
	}
	return &tool.Command{Script: "tr a-z A-Z < " + path}, nil
}

type asker struct{ upper }

func (u asker) Question(c tool.Call) (*tool.Question, *tool.Result) {
	path, refusal := u.path(c)
	if refusal != nil {
		return nil, refusal
	}
	return &tool.Question{Question: "May " + path + " shout?"}, nil
}

const planted = "PERDURE_TEST_TOOL_FAULT"

// Goal: tools of each form that keep the contract pass.
func TestForms(t *testing.T) {
	fault := os.Getenv(planted)
	one := tooltest.Case{Name: "a file", Input: `{"path":"a.txt"}`, Files: map[string]string{"a.txt": "quiet"}}
	tooltest.Run(t, changer{upper{fault}}, one)
	tooltest.Run(t, commander{upper{fault}}, one)
	tooltest.Run(t, asker{upper{fault}}, one)
}

// Goal: each broken duty is found.
func TestFaultsAreFound(t *testing.T) {
	for fault, by := range map[string]string{
		"name": "it_describes_itself", "schema": "it_describes_itself", "undescribed": "it_describes_itself", "effect": "it_describes_itself",
		"mute": "it_describes_itself", "panics": "bad_input_is_refused_in_words", "silent": "bad_input_is_refused_in_words",
		"takes": "bad_input_is_refused_in_words", "writes": "a_file", "files": "a_file", "empty": "a_file",
	} {
		t.Run(fault, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestForms$")
			cmd.Env = append(os.Environ(), planted+"="+fault)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "FAIL: TestForms/"+by) {
				t.Errorf("%v: not found by %s:\n%s", err, by, out)
			}
		})
	}
}
