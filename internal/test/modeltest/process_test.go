package modeltest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A server in its own process speaks, stalls, reports and ends on request.
func TestSpawn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script.json")
	sc := Script{Conversations: []Conversation{{First: "hi", Steps: []Step{
		{Tools: []ToolCall{{Name: "Bash", Input: []byte(oddInput)}}, Faults: []Fault{{Kind: FaultStall, After: 3, Name: "a b"}}},
	}}}}
	if err := sc.Save(file); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Spawn(exe, file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx := deadline(t)
	done := make(chan reply, 1)
	go func() {
		got, err := send(ctx, r.URL(), messagesPath, ask(hi, stream))
		got.err = errors.Join(got.err, err)
		done <- got
	}()
	if err := r.WaitStalled(ctx, "a b", 1); err != nil {
		t.Fatal(err)
	}
	if err := r.Release(ctx, "a b"); err != nil {
		t.Fatal(err)
	}
	got := <-done
	if content := assemble(got.body).content; got.err != nil || !strings.Contains(content, oddInput) {
		t.Errorf("answer %v %s", got.err, got.body)
	}
	rep, err := r.Report(ctx)
	if c, ok := rep.Conversation(Anthropic, "hi"); err != nil || !ok || c.Sealed != 1 || rep.Refused != 0 {
		t.Errorf("report %+v %v", rep, err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if _, err := r.Report(ctx); err == nil {
		t.Error("the process still answers")
	}
}

// What is wrong with a script is said with the place, before anything listens.
func TestBadScripts(t *testing.T) {
	for name, text := range map[string]string{
		"json":     `{"conversations":[`,
		"unknown":  `{"conversation":[]}`,
		"repeated": `{"conversations":[{"first":"a"},{"first":"a"}]}`,
		"empty":    `{"conversations":[{"first":""}]}`,
		"fault":    `{"conversations":[{"first":"a","steps":[{"faults":[{"kind":"explode"}]}]}]}`,
		"status":   `{"conversations":[{"first":"a","steps":[{"faults":[{"kind":"status","status":200}]}]}]}`,
		"cut":      `{"conversations":[{"first":"a","steps":[{"tools":[{"name":"x","cut":99}]}]}]}`,
		"toolname": `{"conversations":[{"first":"a","steps":[{"tools":[{"input":{}}]}]}]}`,
		"extra":    `{"conversations":[{"first":"a","steps":[{"extra":[{"no":"type"}]}]}]}`,
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Serve("127.0.0.1:0", file, strings.NewReader(""), &bytes.Buffer{})
		if !errors.Is(err, ErrScript) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Serve("127.0.0.1:0", filepath.Join(t.TempDir(), "none"), strings.NewReader(""), &bytes.Buffer{}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestScriptFind(t *testing.T) {
	s := Script{Conversations: []Conversation{{First: "fix"}, {First: "fix it"}}}
	for text, want := range map[string]string{"fix": "fix", "<env>\nfix it now": "fix it", "fix that": "fix", "no": ""} {
		if c, _ := s.find(text); c.First != want {
			t.Errorf("find(%q) = %q, want %q", text, c.First, want)
		}
	}
}
