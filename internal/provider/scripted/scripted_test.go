package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

const script = `{"turns": [
  {"match": "fix", "steps": [
    {"thinking": "hm", "text": "I start \u00e9.", "tools": [{"name": "Bash", "input": {"b": 1.0,"a": 12345678901234567890}}, {"name": "Bash"}],
     "fail": [{"class": "rate_limit", "status": 429, "retry_after_ms": 500}, {"after": 2}]},
    {"text": "saw {{result:bash_[0-9]+}}", "tools": [{"name": "BashOutput", "input": {"id": "{{result:bash_\\d+}}", "q": "{{result:say (.*)}}"}}]},
    {"text": "done"}
  ]},
  {"match": "again", "steps": [{"text": "second"}]},
  {"match": "", "steps": [{"text": "first of all"}, {"text": "next of all", "stop": "max_tokens"}]}
]}`

func load(t *testing.T) *Provider {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func say(s string) model.Message {
	return model.Message{Role: model.RoleUser, Blocks: []model.Block{{Type: model.BlockText, Text: s}}}
}

func result(s string) model.Message {
	return model.Message{Role: model.RoleUser, Blocks: []model.Block{{
		Type: model.BlockToolResult, Result: &model.ToolResult{ID: "x", Content: []model.Part{model.TextPart(s)}},
	}}}
}

func request(act string, ms ...model.Message) modelapi.Request {
	return modelapi.Request{Act: act, System: "sys", Tools: []byte("[]"), Messages: ms, MaxTokens: 1}
}

func answer(r *modelapi.Response) model.Message {
	return model.Message{Role: model.RoleAssistant, Blocks: r.Blocks}
}

func mustCall(t *testing.T, p *Provider, r modelapi.Request) *modelapi.Response {
	t.Helper()
	resp, err := p.Call(context.Background(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Model != "scripted" {
		t.Errorf("the model says it is %q", resp.Model)
	}
	return resp
}

// The answer depends on the conversation alone: asked again, by another process's provider, in another attempt, it is
// the same, and its steps follow the replies since the prompt.
func TestAnswersFollowTheConversation(t *testing.T) {
	p := load(t)
	ms := []model.Message{say("please fix it")}
	first := mustCall(t, p, request("t1.s1.b0.a3", ms...))
	for range 3 {
		if again := mustCall(t, load(t), request("t1.s1.b0.a9", ms...)); !reflect.DeepEqual(again, first) {
			t.Errorf("asked again: %+v", again)
		}
	}
	if first.Stop != modelapi.StopToolUse || len(first.Blocks) != 4 || string(first.Blocks[2].Tool.Input) != `{"b": 1.0,"a": 12345678901234567890}` {
		t.Errorf("got %+v", first)
	}
	if a, b := first.Blocks[2].Tool.ID, first.Blocks[3].Tool.ID; a == b || a == "" || string(first.Blocks[3].Tool.Input) != "{}" {
		t.Errorf("ids %q %q", a, b)
	}
	for _, b := range first.Blocks {
		if !json.Valid(b.Raw) || b.Provider != Name {
			t.Errorf("block %s", b.Raw)
		}
	}
	ms = append(ms, answer(first), result("bash_1 old"), say("a note"), result("started bash_7; say \"hi\"\\"))
	second := mustCall(t, p, request("t1.s2.b0.a1", ms...))
	if second.Blocks[0].Text != "saw bash_7" || string(second.Blocks[1].Tool.Input) != `{"id": "bash_7", "q": "\"hi\"\\"}` {
		t.Errorf("got %q %s", second.Blocks[0].Text, second.Blocks[1].Tool.Input)
	}
	if second.Blocks[1].Tool.ID == first.Blocks[2].Tool.ID {
		t.Error("an id is repeated")
	}
	ms = append(ms, answer(second), result("x"))
	third := mustCall(t, p, request("t1.s3.b0.a1", ms...))
	if third.Stop != modelapi.StopEndTurn || third.Blocks[0].Text != "done" {
		t.Errorf("got %+v", third)
	}
	ms = append(ms, answer(third), say("again"))
	if fourth := mustCall(t, p, request("t2.s1.b0.a1", ms...)); fourth.Blocks[0].Text != "second" {
		t.Errorf("got %+v", fourth)
	}
	if r := mustCall(t, p, request("", say("hello"))); r.Blocks[0].Text != "first of all" {
		t.Errorf("got %+v", r)
	}
	if r := mustCall(t, p, request("", say("hello"), answer(third), say("more"))); r.Stop != modelapi.StopMaxTokens {
		t.Errorf("got %+v", r)
	}
}

// Failures strike by the attempt that the act's id names, before the reply or in it.
func TestFailures(t *testing.T) {
	p := load(t)
	call := func(act string) (*modelapi.Error, int) {
		n := 0
		_, err := p.Call(context.Background(), request(act, say("fix")), func(modelapi.Delta) { n++ })
		e, _ := errors.AsType[*modelapi.Error](err)
		return e, n
	}
	if e, n := call("t1.s1.b0.a1"); e == nil || e.Class != modelapi.ClassRateLimit || e.Status != 429 || e.RetryAfter != 500*time.Millisecond || e.Started || n != 0 {
		t.Errorf("attempt 1: %+v, %d deltas", e, n)
	}
	if e, n := call("t1.s1.b0.a2"); e == nil || e.Class != modelapi.ClassServer || !e.Started || e.Usage.Input == 0 || e.Usage.Output != 0 || n != 2 {
		t.Errorf("attempt 2: %+v, %d deltas", e, n)
	}
	if e, n := call("t1.s1.b0.a3"); e != nil || n < 5 {
		t.Errorf("attempt 3: %+v, %d deltas", e, n)
	}
}

// What the script has no answer for is a failure that says so, and is not tried again.
func TestNoAnswer(t *testing.T) {
	only, err := Parse([]byte(`{"turns":[{"match":"a","steps":[{"text":"{{result:[}}"},{"text":"{{result:x}}"},{"text":"{{result:x"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	reply := model.Message{Role: model.RoleAssistant}
	for name, ms := range map[string][]model.Message{
		"no turn": {say("b")}, "nothing": nil, "bad pattern": {say("a")}, "no result": {say("a"), reply},
		"open": {say("a"), reply, reply}, "no step": {say("a"), reply, reply, reply},
	} {
		_, err := New(only).Call(context.Background(), request("", ms...), nil)
		if e, ok := errors.AsType[*modelapi.Error](err); !ok || e.Retryable() {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A script with a mistake is refused with its place.
func TestBadScripts(t *testing.T) {
	for in, words := range map[string]string{
		``: "EOF", `{"turn":[]}`: "turn", `{"turns":[{"steps":[{}]}]}`: "says nothing",
		`{"turns":[{"steps":[{"text":"x","delay_ms":-1}]}]}`: "delay", `{"turns":[{"steps":[{"text":"x","tols":[]}]}]}`: "tols",
	} {
		if _, err := Parse([]byte(in)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", in, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "none") {
		t.Errorf("got %v", err)
	}
}

// The name of a script may come from a session of somebody else: what is no file is refused, and a pipe is not waited for.
func TestAPipeIsNoScript(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { _, err := Open(pipe); done <- err }()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for a writer")
	}
}

// Deltas are delayed one by one, join to the text, and stop when the caller's context ends.
func TestDeltas(t *testing.T) {
	s, err := Parse([]byte(`{"turns":[{"steps":[{"text":"ééééééééééééééééééééé and so on for a while","delay_ms":20}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	p := New(s)
	var slept time.Duration
	p.Sleep = func(_ context.Context, d time.Duration) error {
		slept += d
		return nil
	}
	var got strings.Builder
	n := 0
	resp, err := p.Call(context.Background(), request("", say("x")), func(d modelapi.Delta) {
		n++
		if d.Kind == modelapi.DeltaText {
			got.WriteString(d.Text)
		}
		if n == 1 && (d.Kind != modelapi.DeltaStart || d.Usage.Input == 0) {
			t.Errorf("first delta %+v", d)
		}
	})
	if err != nil || got.String() != resp.Blocks[0].Text || slept != time.Duration(n)*20*time.Millisecond || n < 3 {
		t.Errorf("%v %q, %d deltas in %s", err, got.String(), n, slept)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p.Sleep = nil
	if _, err := p.Call(ctx, request("", say("x")), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Counts are bytes by four; the count before a call is the call's; the prefix knows every part of the request.
func TestUsageAndPrefix(t *testing.T) {
	p := load(t)
	r := request("a", say("hello"))
	resp := mustCall(t, p, r)
	n, err := p.CountTokens(context.Background(), r)
	if err != nil || n != resp.Usage.Input || n < 3 || resp.Usage.Output != tokens(len(resp.Blocks[0].Raw)) || resp.Unmetered {
		t.Errorf("count %d %v, usage %+v", n, err, resp.Usage)
	}
	first, _ := p.Prefix(r)
	seen := map[store.Digest]bool{first: true}
	for i, ms := range [][]model.Message{
		{say("hello.")}, {say("hel"), say("lo")}, {say("hello"), answer(resp)}, {result("hello")}, {say("hello"), result("")}, nil,
	} {
		d, _ := p.Prefix(request("a", ms...))
		if seen[d] {
			t.Errorf("prefix %d is not new", i)
		}
		seen[d] = true
	}
	if again, _ := p.Prefix(request("other", say("hello"))); again != first {
		t.Error("the act changes the prefix")
	}
}
