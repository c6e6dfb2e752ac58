package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/tool"
)

type weather struct {
	City  string                  `json:"city" doc:"where"`
	Unit  string                  `json:"unit,omitempty" enum:"c,f"`
	Days  []int                   `json:"days,omitzero"`
	Extra map[string]*bool        `json:"extra,omitempty"`
	Where *struct{ X, Y float64 } `json:"where,omitempty"`
	note  string
	Skip  string `json:"-"`
}

// A function becomes a tool whose schema is its struct, and whose input is read as the schema says.
func TestFunc(t *testing.T) {
	f := tool.Func(tool.Spec{Name: "Weather", Description: "Tells the weather.", ReadOnly: true}, func(_ context.Context, w weather) (string, error) {
		if w.City == "nowhere" {
			return "", errors.New("there is no such city")
		}
		return w.City + w.note + " " + w.Unit, nil
	})
	if err := tools.Check(tools.Of([]tool.Tool{f})); err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal([]byte(f.Spec().Schema), &got); err != nil {
		t.Fatal(err)
	}
	err := json.Unmarshal([]byte(`{"type":"object","required":["city"],"properties":{
		"city":{"type":"string","description":"where"}, "unit":{"type":"string","enum":["c","f"]},
		"days":{"type":"array","items":{"type":"integer"}},
		"extra":{"type":"object","additionalProperties":{"type":"boolean"}},
		"where":{"type":"object","required":["X","Y"],"properties":{"X":{"type":"number"},"Y":{"type":"number"}}}}}`), &want)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("schema %s", f.Spec().Schema)
	}
	for input, want := range map[string]string{
		`{"city":"Ulm","unit":"c","later":1}`: "Ulm c", `{"unit":"c"}`: `!The input lacks "city"`, `{"city":7}`: "!The input is not", `[`: "!The input is not",
	} {
		r, err := f.Run(t.Context(), tool.Call{Name: "Weather", Input: []byte(input)}, tool.Env{})
		text := model.Text(r.Content)
		if r.IsError {
			text = "!" + text
		}
		if err != nil || !strings.HasPrefix(text, want) {
			t.Errorf("%s: %q, %v", input, text, err)
		}
	}
	if _, err := f.Run(t.Context(), tool.Call{Input: []byte(`{"city":"nowhere"}`)}, tool.Env{}); err == nil {
		t.Error("its error was lost")
	}
	type loop struct{ Next *loop }
	for name, bad := range map[string]func(){
		"no struct": func() {
			tool.Func(tool.Spec{Name: "x", Description: "", ReadOnly: true}, func(context.Context, string) (string, error) { return "", nil })
		},
		"a channel": func() {
			tool.Func(tool.Spec{Name: "x", Description: "", ReadOnly: true}, func(context.Context, struct{ C chan int }) (string, error) { return "", nil })
		},
		"one that holds itself": func() {
			tool.Func(tool.Spec{Name: "x", Description: "", ReadOnly: true}, func(context.Context, loop) (string, error) { return "", nil })
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was taken", name)
				}
			}()
			bad()
		}()
	}
}
