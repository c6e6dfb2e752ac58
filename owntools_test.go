package perdure_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/perdure/perdure"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/tool"
)

// The tools of a program's own, one of each kind.
type (
	stamper struct{} // changes a file
	greeter struct{} // runs a command
	chooser struct{} // asks
	peeker  struct{} // reads what a path names
)

func (stamper) Spec() tool.Spec { return tool.Spec{Name: "Stamp"} }

func (stamper) Path(c tool.Call) string { return field(c, "path") }

func (stamper) Change(_ context.Context, c tool.Call, env tool.Env, old []byte) (*tool.Change, *tool.Result, error) {
	if field(c, "path") == "" {
		return nil, &tool.Result{IsError: true, Content: []model.Part{model.TextPart("name a path")}}, nil
	}
	return &tool.Change{Content: fmt.Appendf(nil, "%sstamped by %s\n", old, env.Session), Said: "stamped " + filepath.Base(env.Target)}, nil, nil
}

func (greeter) Spec() tool.Spec { return tool.Spec{Name: "Greet"} }

func (greeter) Command(c tool.Call) (*tool.Command, *tool.Result) {
	return &tool.Command{Script: "echo hello " + field(c, "name") + "; exit 4", Description: "greets"}, nil
}

func (chooser) Spec() tool.Spec { return tool.Spec{Name: "Choose"} }

func (chooser) Question(tool.Call) (*tool.Question, *tool.Result) {
	return &tool.Question{Question: "which?", Options: []string{"one", "two"}}, nil
}

func (peeker) Spec() tool.Spec { return tool.Spec{Name: "Peek", ReadOnly: true} }

func (peeker) Path(c tool.Call) string { return field(c, "path") }

func (peeker) Run(_ context.Context, _ tool.Call, env tool.Env) (tool.Result, error) {
	b, err := os.ReadFile(env.Target)
	return tool.Result{Content: []model.Part{model.TextPart(strings.ToUpper(string(env.Hide(b))))}}, errors.Join(err, errIf(env.Hidden("/nowhere"), "hidden"))
}

func errIf(is bool, text string) error {
	if is {
		return errors.New(text)
	}
	return nil
}

func field(c tool.Call, name string) string {
	var in map[string]string
	_ = json.Unmarshal(c.Input, &in)
	return in[name]
}

// script writes what a model plays, and gives the model's name.
func script(t *testing.T, dir, text string) string {
	t.Helper()
	file := filepath.Join(dir, "script.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "scripted/" + file
}

// Goal: a program's own tools work beside the built-in ones: rules decide, commands and changes are durable, a human is
// asked.
func TestToolsOfOnesOwn(t *testing.T) {
	work := t.TempDir()
	add := tool.Func(tool.Spec{Name: "Add", Description: "Adds.", ReadOnly: true}, func(_ context.Context, in struct{ A, B int }) (string, error) {
		return fmt.Sprint(in.A + in.B), nil
	})
	var mu sync.Mutex
	kinds := map[string]int{}
	h := openHome(t, perdure.Config{
		Tools:   append(perdure.Tools(), stamper{}, greeter{}, chooser{}, peeker{}, add),
		Secrets: map[string]string{"DOOR": "sesame-open-9"},
		Observe: func(u perdure.Update) {
			mu.Lock()
			defer mu.Unlock()
			if u.Event != nil {
				kinds[u.Event.Kind]++
			}
		},
	})
	ctx := t.Context()
	agent, err := h.Agent(ctx, script(t, work, `{"turns":[{"steps":[
		{"tools":[{"name":"Add","input":{"A":40,"B":2}},{"name":"Stamp","input":{"path":"new.txt"}},{"name":"Greet","input":{"name":"sesame-open-9"}}]},
		{"tools":[{"name":"Peek","input":{"path":"new.txt"}},{"name":"Stamp","input":{}},{"name":"Choose","input":{}}]},
		{"text":"done"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	id, err := h.Create(ctx, perdure.Spec{ID: "own", Agent: agent, Cwd: work})
	if err != nil {
		t.Fatal(err)
	}
	opt := perdure.RunOptions{Prompt: "go"}
	opt.Mode = "bypassPermissions"
	r, err := h.Run(ctx, id, opt)
	if err != nil || len(r.Waiting) != 1 || r.Waiting[0].Kind != "question" || r.Waiting[0].Question.Options[1] != "two" {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := h.Answer(ctx, id, r.Waiting[0].Act, "two"); err != nil {
		t.Fatal(err)
	}
	if r, err = h.Run(ctx, id, perdure.RunOptions{}); err != nil || r.Result != "done" {
		t.Fatalf("%+v, %v", r, err)
	}
	b, err := os.ReadFile(filepath.Join(work, "new.txt"))
	if err != nil || string(b) != "stamped by own\n" {
		t.Errorf("%q, %v", b, err)
	}
	ms, err := h.Messages(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, m := range ms {
		for _, bl := range m.Blocks {
			if bl.Result != nil {
				told = append(told, fmt.Sprintf("%v %s", bl.Result.IsError, model.Text(bl.Result.Content)))
			}
		}
	}
	want := []string{
		"false 42", "false stamped new.txt", "true hello [secret:DOOR]\n", "false STAMPED BY OWN\n", "true name a path", "false two",
	}
	if len(told) != len(want) {
		t.Fatalf("told %q", told)
	}
	for i := range want {
		if !strings.HasPrefix(told[i], want[i]) {
			t.Errorf("told %q, want %q", told[i], want[i])
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if kinds["tool.finished"] != 6 || kinds["turn.ended"] != 1 {
		t.Errorf("seen %v", kinds)
	}
	for name, bad := range map[string]tool.Tool{"none": struct{ tool.Tool }{add}, "twice": add, "nil": nil} {
		if _, err := perdure.Open(ctx, t.TempDir(), perdure.Config{Tools: []tool.Tool{add, bad}}); !errors.Is(err, perdure.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
