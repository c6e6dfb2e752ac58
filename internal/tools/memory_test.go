package tools

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/knowledge"
	"github.com/perdure/perdure/model"
)

// noted is a memory that notes what it is asked.
type noted struct {
	commands []knowledge.Command
	by       knowledge.By
	err      error
}

func (n *noted) Do(_ context.Context, c knowledge.Command, by knowledge.By) (string, bool, error) {
	n.commands, n.by = append(n.commands, c), by
	return "done: " + c.Name, c.Name != "delete", n.err
}

func (w *world) memory(input string) (Result, error) {
	return memory{}.Run(context.Background(), Call{Act: "t1.s2.b1.a2", Name: "memory", Input: []byte(input)}, w.Env)
}

// Goal: the input is read as models write it; what is missing is told, and nothing is done then.
func TestMemoryInput(t *testing.T) {
	w, m := newWorld(t), &noted{}
	w.Memory = m
	w.Replace = func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "hunter2", "[secret:PW]")) }
	w.State.ID = "s1"
	for _, c := range []struct {
		input string
		want  knowledge.Command
	}{
		{`{"command":"view","path":"/memories","view_range":[1,-1]}`, knowledge.Command{Name: "view", Path: "/memories", From: 1, To: -1}},
		{`{"command":"create","path":"/memories/a","file_text":"the password is hunter2"}`, knowledge.Command{Name: "create", Path: "/memories/a", FileText: "the password is [secret:PW]"}},
		{`{"command":"str_replace","path":"/memories/a","old_str":"x","new_str":"hunter2"}`, knowledge.Command{Name: "str_replace", Path: "/memories/a", OldStr: "x", NewStr: "[secret:PW]"}},
		{`{"command":"str_replace","path":"/memories/a","old_str":"x"}`, knowledge.Command{Name: "str_replace", Path: "/memories/a", OldStr: "x"}},
		{`{"command":"insert","path":"/memories/a","insert_line":"0","insert_text":"hunter2"}`, knowledge.Command{Name: "insert", Path: "/memories/a", InsertText: "[secret:PW]"}},
		{`{"command":"rename","old_path":"/memories/a","new_path":"/memories/b"}`, knowledge.Command{Name: "rename", OldPath: "/memories/a", NewPath: "/memories/b"}},
	} {
		r, err := w.memory(c.input)
		if err != nil || r.IsError || model.Text(r.Content) != "done: "+c.want.Name || m.commands[len(m.commands)-1] != c.want {
			t.Errorf("%s: %+v, %v, %+v", c.input, r, err, m.commands)
		}
	}
	if m.by.Key != "s1/t1.s2.b1" || m.by.Session != "s1" || m.by.Source != knowledge.SourceModel {
		t.Errorf("by %+v: a second attempt of a call has the same key", m.by)
	}
	n := len(m.commands)
	for input, words := range map[string]string{
		`{}`: "command", `{"command":"fly"}`: `must be one of`, `{"command":"view"}`: "path", `{"command":"create","path":"/memories/a"}`: "file_text",
		`{"command":"insert","path":"/memories/a","insert_text":"x"}`: "insert_line", `{"command":"rename","old_path":"/memories/a"}`: "new_path",
		`{"command":"view","path":"/memories","view_range":[1]}`: "two line numbers", `[]`: "JSON object",
	} {
		if r, err := w.memory(input); err != nil || !r.IsError || !strings.Contains(model.Text(r.Content), words) {
			t.Errorf("%s: %q, %v", input, model.Text(r.Content), err)
		}
	}
	if len(m.commands) != n {
		t.Error("a bad call did something")
	}
	if r, err := w.memory(`{"command":"delete","path":"/memories/a"}`); err != nil || !r.IsError {
		t.Errorf("a refusal is an error for the model: %+v, %v", r, err)
	}
	m.err = errors.New("the disk is full")
	if _, err := w.memory(`{"command":"view","path":"/memories"}`); !errors.Is(err, m.err) {
		t.Errorf("got %v", err)
	}
}

// Goal: without a memory the tool says so, and no new session is told of it.
func TestNoMemory(t *testing.T) {
	w := newWorld(t)
	if r, err := w.memory(`{"command":"view","path":"/memories"}`); err != nil || !r.IsError || !strings.Contains(model.Text(r.Content), "no memory here") {
		t.Errorf("%+v, %v", r, err)
	}
	all := append(Builtin(), MemoryTool())
	if Find(Offered(all, false, true), "memory") != nil || Find(Offered(all, true, true), "memory") == nil || len(Offered(all, false, true)) != len(all)-1 {
		t.Error("the wrong tools are offered")
	}
	if err := Check(all); err != nil {
		t.Error(err)
	}
	if !(memory{}).Reads(Call{Input: []byte(`{"command":"view"}`)}) || (memory{}).Reads(Call{Input: []byte(`{"command":"create"}`)}) {
		t.Error("a view reads, the others change")
	}
}

func (*noted) Shrinks(knowledge.Command) string { return "" }
