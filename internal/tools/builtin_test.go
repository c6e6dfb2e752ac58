package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/command"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Goal: what the model is told about tools is valid, complete and stable.
func TestDescribe(t *testing.T) {
	b := Describe(Builtin())
	if !bytes.Equal(b, Describe(Builtin())) {
		t.Error("two descriptions differ")
	}
	var list []struct {
		Name, Description string
		Schema            struct {
			Type       string
			Properties map[string]struct{ Description string }
			Required   []string
		} `json:"input_schema"`
	}
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range list {
		names = append(names, d.Name)
		if d.Schema.Type != "object" || len(d.Schema.Required) == 0 && d.Name != "Await" && d.Name != "History" || len(d.Description) < 80 {
			t.Errorf("%s: incomplete: %+v", d.Name, d)
		}
		for _, r := range d.Schema.Required {
			if _, ok := d.Schema.Properties[r]; !ok {
				t.Errorf("%s: required %q is no property", d.Name, r)
			}
		}
	}
	if got := strings.Join(names, " "); got != "Bash BashOutput BashInput KillBash Await Read Write Edit Glob Grep TodoWrite Note History AskUser" {
		t.Errorf("tools: %s", got)
	}
	if bytes.Contains(b, []byte(`\u003c`)) || bytes.Contains(b, []byte("\n")) {
		t.Error("description is escaped for HTML or not compact")
	}
	if Find(Builtin(), "Nope") != nil {
		t.Error("found a tool that is not there")
	}
}

// Goal: every tool is exactly one kind of tool, of the effect class that its kind has.
func TestKinds(t *testing.T) {
	for _, tl := range Builtin() {
		s, kinds := tl.Spec(), 0
		if _, ok := tl.(Runner); ok {
			kinds++
			// What is typed is not typed again: nobody knows how much of it was read.
			if s.Effect != session.EffectRead && (s.Effect != session.EffectExternal || s.Idempotent == (s.Name == "BashInput")) {
				t.Errorf("%s: runner of effect %s", s.Name, s.Effect)
			}
		}
		if _, ok := tl.(Editor); ok {
			kinds++
			if s.Effect != session.EffectEdit {
				t.Errorf("%s: editor of effect %s", s.Name, s.Effect)
			}
		}
		if _, ok := tl.(Commander); ok {
			kinds++
			if s.Effect != session.EffectProcess {
				t.Errorf("%s: commander of effect %s", s.Name, s.Effect)
			}
		}
		if _, ok := tl.(Asker); ok {
			kinds++
			if s.Effect != session.EffectQuestion {
				t.Errorf("%s: asker of effect %s", s.Name, s.Effect)
			}
		}
		if kinds != 1 {
			t.Errorf("%s: %d kinds", s.Name, kinds)
		}
		if !json.Valid([]byte(s.Schema)) {
			t.Errorf("%s: schema is not JSON", s.Name)
		}
	}
}

// refuse gives a tool's refusal of an input, whatever its kind, or nil.
func refuse(t testing.TB, tl Tool, input string, env Env) *Result {
	c := Call{Name: tl.Spec().Name, Input: []byte(input)}
	var r Result
	var err error
	switch k := tl.(type) {
	case Runner:
		if r, err = k.Run(context.Background(), c, env); r.IsError {
			return &r
		}
	case Editor:
		_, _, refusal, e := k.Prepare(context.Background(), c, env)
		err = e
		if refusal != nil && refusal.IsError {
			return refusal
		}
	case Commander:
		_, refusal := k.Command(c)
		return refusal
	case Asker:
		_, refusal := k.Question(c)
		return refusal
	}
	if err != nil {
		t.Errorf("%s %s: %v", c.Name, input, err)
	}
	return nil
}

// Goal: each field that a schema calls required is, and is named when it is missing or of the wrong type; bad JSON is
// told as such. Unknown fields do no harm.
func TestRequiredFields(t *testing.T) {
	w := newWorld(t)
	w.put("f.txt", "one\n")
	w.call("Read", obj{"file_path": "f.txt"})
	w.State.Tasks = []session.Task{{ID: "bash_1", Ending: command.Ending{Status: command.Running}}}
	w.Tasks = fakeTasks{"bash_1": {st: command.State{Status: command.Running}, typed: make([]byte, 0, 1000)}}
	w.Log = logOf("test")
	good := map[string]obj{
		"Bash": {"command": "true"}, "BashOutput": {"bash_id": "bash_1"}, "KillBash": {"shell_id": "bash_1"}, "Await": {"bash_id": "bash_1"},
		"BashInput": {"bash_id": "bash_1", "text": "x"},
		"Read":      {"file_path": "f.txt"}, "Write": {"file_path": "g.txt", "content": "x"},
		"Edit": {"file_path": "f.txt", "old_string": "one", "new_string": "two"}, "Glob": {"pattern": "*"},
		"Grep": {"pattern": "o"}, "TodoWrite": {"todos": []obj{{"content": "x", "status": "pending"}}},
		"AskUser": {"question": "which?"}, "Note": {"kind": "finding", "text": "x"}, "History": {"query": "x"},
	}
	for _, tl := range Builtin() {
		s := tl.Spec()
		input := good[s.Name]
		input["unknown_field"] = obj{"a": 1}
		try := func(input obj) *Result {
			b, _ := json.Marshal(input)
			return refuse(t, tl, string(b), w.Env)
		}
		if r := try(input); r != nil {
			t.Errorf("%s: good input refused: %s", s.Name, model.Text(r.Content))
		}
		var schema struct{ Required []string }
		if err := json.Unmarshal([]byte(s.Schema), &schema); err != nil {
			t.Fatal(err)
		}
		for _, field := range schema.Required {
			for _, bad := range []any{nil, obj{"x": 1}, 17, true} {
				changed := obj{}
				for k, v := range input {
					changed[k] = v
				}
				changed[field] = bad
				r := try(changed)
				if r == nil || !strings.Contains(model.Text(r.Content), `"`+field+`"`) {
					t.Errorf("%s: %q = %v is not refused by name: %+v", s.Name, field, bad, r)
				}
			}
		}
		for _, bad := range []string{"", "[]", "3", `"x"`, "{", "{} {}", "null", "\xff"} {
			if r := refuse(t, tl, bad, w.Env); r == nil || !strings.HasPrefix(model.Text(r.Content), s.Name+": ") {
				t.Errorf("%s: input %q is not refused: %+v", s.Name, bad, r)
			}
		}
	}
}

// Goal: numbers and booleans are read in every form that models write them in.
func TestTolerantFields(t *testing.T) {
	for input, want := range map[string]int64{
		`5`: 5, `"5"`: 5, `5.0`: 5, `" 7 "`: 7, `1e3`: 1000, `null`: 9, `99999`: 2000, `1e300`: 2000,
	} {
		in := parse(Call{Name: "T", Input: []byte(`{"n":` + input + `}`)})
		if got := in.number("n", 9, 1, 2000); got != want || len(in.problems) > 0 {
			t.Errorf("%s: %d, %v", input, got, in.problems)
		}
	}
	for _, input := range []string{`5.5`, `"x"`, `0`, `-3`, `{}`, `[1]`, `true`, `""`, `"NaN"`, `"Inf"`, `-1e300`} {
		in := parse(Call{Name: "T", Input: []byte(`{"n":` + input + `}`)})
		if got := in.number("n", 9, 1, 2000); len(in.problems) != 1 {
			t.Errorf("%s: accepted as %d", input, got)
		}
	}
	for input, want := range map[string]bool{`true`: true, `"true"`: true, `"False"`: false, `1`: true, `"0"`: false} {
		in := parse(Call{Input: []byte(`{"b":` + input + `}`)})
		if got := in.flag("b", !want); got != want || len(in.problems) > 0 {
			t.Errorf("%s: %v, %v", input, got, in.problems)
		}
	}
	in := parse(Call{Input: []byte(`{"b":"maybe"}`)})
	if in.flag("b", false); len(in.problems) != 1 {
		t.Error("a boolean of another word is accepted")
	}
}

// Goal: no input makes a tool panic or fail, and two Prepares of the same input give the same edit.
func FuzzInputs(f *testing.F) {
	for _, s := range []string{
		`{"command":"x","timeout":"1"}`, `{"file_path":"f.txt","old_string":"o","new_string":"\r\n","replace_all":1}`,
		`{"file_path":"f.txt","content":"y"}`, `{"pattern":"**/*","path":"."}`, `{"pattern":"(a|b)*","-C":3,"output_mode":"content"}`,
		`{"todos":[{"content":"a","status":"done"}]}`, `{"shell_id":["a"],"bash_id":"bash_1","filter":"["}`,
		`{"question":"q","options":[{"label":"x"}]}`, `{"file_path":"/proc/self/fd/0","pattern":"{a,b}/../**"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if bytes.Contains(input, []byte("/")) && !bytes.Contains(input, []byte("f.txt")) {
			return // stay inside of the temporary directory
		}
		w := newWorld(t)
		w.put("f.txt", "one\r\ntwo\r\n")
		w.call("Read", obj{"file_path": "f.txt"})
		for _, tl := range Builtin() {
			c := Call{Name: tl.Spec().Name, Input: input}
			refuse(t, tl, string(input), w.Env)
			if p, ok := tl.(Paths); ok {
				p.Path(c)
			}
			ed, ok := tl.(Editor)
			if !ok {
				continue
			}
			e1, c1, r1, _ := ed.Prepare(context.Background(), c, w.Env)
			e2, c2, r2, _ := ed.Prepare(context.Background(), c, w.Env)
			if (r1 == nil) != (r2 == nil) || (e1 != nil && (*e1 != *e2 || !bytes.Equal(c1, c2))) {
				t.Errorf("%s: two Prepares differ", c.Name)
			}
			if e1 != nil && (e1.Post != store.Sum(c1) || e1.Size != int64(len(c1)) || e1.Result == "" || e1.Pre == e1.Post) {
				t.Errorf("%s: edit does not fit its content: %+v", c.Name, e1)
			}
		}
	})
}
