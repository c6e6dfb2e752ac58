package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

func image(data string) model.Part {
	return model.Part{Type: model.BlockImage, Media: "image/png", Data: []byte(data)}
}

// whole is a conversation with everything that a request may hold.
func whole() modelapi.Request {
	r := ask()
	r.Tools = []byte(`[ {"name":"A", "description":"runs \u00e9","input_schema":{"z":1.0,"a":2}}, {"name":"B"} ]`)
	pdf := model.Block{Type: model.BlockDocument, Media: "application/pdf", Data: []byte("%PDF")}
	r.Messages = []model.Message{
		user(text("hi"), text(" "), model.Block{Type: model.BlockDocument, Media: "text/csv", Data: []byte("a,b")}),
		user(pdf),
		assistant(
			model.Block{Type: model.BlockThinking, Provider: "anthropic", Raw: []byte(`{"type":"thinking"}`), Text: "hm"},
			model.Block{Type: model.BlockText, Provider: "anthropic", Raw: []byte(`{"type":"text","text":"s\u0061id"}`), Text: "said"},
			model.Block{Type: model.BlockText, Provider: "anthropic", Text: "more"},
			model.Block{Type: model.BlockToolUse, Provider: "anthropic", Raw: []byte(`{"type":"tool_use"}`), Tool: &model.ToolUse{ID: "toolu_1", Name: "A", Input: []byte(`{"b": 1.0}`)}},
			model.Block{Type: model.BlockToolUse, Provider: "anthropic", Tool: &model.ToolUse{ID: "toolu_2", Name: "B"}}),
		user(text("meanwhile"), toolResult("toolu_1", true, model.TextPart("exit code 1")), toolResult("toolu_2", false, image("png"))),
		assistant(model.Block{Type: model.BlockText, Provider: "openai", Raw: []byte(`{"type":"text","text":" "}`)}),
		user(text("end")),
		assistant(model.Block{Type: model.BlockText, Provider: "openai", Raw: []byte(`{"type":"text","text":"\u0061"}`), Text: "a"}),
	}
	return r
}

const wholeBody = `{"model":"m","max_tokens":100,"stream":true,"stream_options":{"include_usage":true},` +
	`"tools":[{"type":"function","function":{"name":"A","description":"runs \u00e9","parameters":{"z":1.0,"a":2}}},` +
	`{"type":"function","function":{"name":"B","parameters":{"type":"object","properties":{}}}}],` +
	`"messages":[{"role":"system","content":"be good"},` +
	`{"role":"user","content":"hi\n\na,b\n\n[a document of type application/pdf, 4 bytes, which this model can't be shown]"},` +
	`{"role":"assistant","content":"said\n\nmore","tool_calls":[` +
	`{"id":"toolu_1","type":"function","function":{"name":"A","arguments":"{\"b\": 1.0}"}},` +
	`{"id":"toolu_2","type":"function","function":{"name":"B","arguments":"{}"}}]},` +
	`{"role":"tool","content":"Error: exit code 1","tool_call_id":"toolu_1"},` +
	`{"role":"tool","content":"(no output)","tool_call_id":"toolu_2"},` +
	`{"role":"user","content":[{"type":"text","text":"From the tool call toolu_2:"},` +
	`{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}},{"type":"text","text":"meanwhile"},{"type":"text","text":"end"}]},` +
	`{"role":"assistant","content":"\u0061"}]}`

// The body's bytes are exactly these: results right after the call (rule 1), pictures of results and what a user says
// after them, blocks of others from their thin view, empty messages left out (rule 7).
func TestBody(t *testing.T) {
	b, err := New(Config{BaseURL: "http://local:1"}).render(whole())
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != wholeBody || !json.Valid(b) {
		t.Errorf("got\n%s\nwant\n%s", b, wholeBody)
	}
	own, err := New(Config{}).render(whole())
	if err != nil || !bytes.Contains(own, []byte(`{"type":"file","file":{"filename":"document","file_data":"data:application/pdf;base64,JVBERg=="}}`)) {
		t.Errorf("%v: %s", err, own)
	}
}

// OpenAI's own host has words of its own; other servers get the common ones. Addresses are completed.
func TestDialects(t *testing.T) {
	for _, c := range []struct {
		base, model, effort string
		url, has, hasNot    string
	}{
		{"", "gpt-4o", "", "https://api.openai.com/v1/chat/completions", `"max_completion_tokens":100`, "reasoning_effort"},
		{"https://api.openai.com/v1/", "gpt-6-sol", "", "https://api.openai.com/v1/chat/completions", `"reasoning_effort":"none"`, `"max_tokens"`},
		{"", "gpt-5.6-terra-2026-07-09", "", "https://api.openai.com/v1/chat/completions", `"reasoning_effort":"none"`, `"max_tokens"`},
		{"", "gpt-5.4", "", "https://api.openai.com/v1/chat/completions", `"max_completion_tokens"`, "reasoning_effort"},
		{"", "gpt-6-sol", "low", "https://api.openai.com/v1/chat/completions", `"reasoning_effort":"low"`, "none"},
		{"http://box:8080", "gpt-6-sol", "", "http://box:8080/v1/chat/completions", `"max_tokens":100`, "reasoning_effort"},
		{"https://openrouter.ai/api/v1", "x/y", "", "https://openrouter.ai/api/v1/chat/completions", `"max_tokens":100`, "max_completion"},
	} {
		w := &wire{body: frames(end("stop"), done)}
		p := New(Config{BaseURL: c.base, Key: "k", HTTP: &http.Client{Transport: w}})
		r := whole()
		r.Model, r.Params = c.model, modelapi.Params{Effort: c.effort}
		if _, err := p.Call(context.Background(), r, nil); err != nil {
			t.Fatal(err)
		}
		if w.got.URL.String() != c.url || !strings.Contains(w.payload, c.has) || strings.Contains(w.payload, c.hasNot) {
			t.Errorf("%+v: %s %s", c, w.got.URL, w.payload)
		}
		if w.got.Header.Get("Authorization") != "Bearer k" {
			t.Errorf("%v", w.got.Header)
		}
	}
}

// What can't be sent is refused before it is sent.
func TestRefusedRequests(t *testing.T) {
	for name, change := range map[string]func(*modelapi.Request){
		"no messages":     func(r *modelapi.Request) { r.Messages = nil },
		"assistant first": func(r *modelapi.Request) { r.Messages = []model.Message{assistant(text("x")), user(text("x"))} },
		"only blank":      func(r *modelapi.Request) { r.Messages = []model.Message{user(text(" "))} },
		"role":            func(r *modelapi.Request) { r.Messages[0].Role = "system" },
		"thinking user":   func(r *modelapi.Request) { r.Messages[0].Blocks[0].Type = model.BlockThinking },
		"empty result": func(r *modelapi.Request) {
			r.Messages = append(r.Messages, user(model.Block{Type: model.BlockToolResult}))
		},
		"tool without tool": func(r *modelapi.Request) {
			r.Messages = append(r.Messages, assistant(model.Block{Type: model.BlockToolUse}))
		},
		"tools":      func(r *modelapi.Request) { r.Tools = []byte(`[{"name":`) },
		"max tokens": func(r *modelapi.Request) { r.MaxTokens = 0 },
	} {
		r := ask()
		change(&r)
		w := &wire{}
		_, err := New(Config{HTTP: &http.Client{Transport: w}}).Call(context.Background(), r, nil)
		if e := failure(t, err); e.Class != modelapi.ClassInvalid || w.got != nil {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// Rule 4: what was sent before a reply keeps its bytes, whatever is appended; the digest says so.
func TestPrefix(t *testing.T) {
	p := New(Config{})
	r := whole()
	var before []byte
	for _, n := range []int{1, 3, 4, 7} { // after each of these a reply was made, or will be
		part := r
		part.Messages = r.Messages[:n]
		b, err := p.appendPrefix(nil, part)
		if err != nil {
			t.Fatal(err)
		}
		// A user message that was not answered yet may still grow.
		if sent := bytes.TrimSuffix(before, []byte(`]`)); n > 3 && n < 7 && !bytes.HasPrefix(b, sent) {
			t.Errorf("message %d changed what was sent:\n%s\n%s", n, before, b)
		}
		before = b
	}
	first, err := p.Prefix(r)
	if err != nil {
		t.Fatal(err)
	}
	same := whole()
	same.Act, same.MaxTokens, same.Model, same.Params.Effort = "other", 9, "other", "low"
	if again, _ := p.Prefix(same); again != first {
		t.Error("what is no part of the prefix changes it")
	}
	for name, change := range map[string]func(*modelapi.Request){
		"system": func(r *modelapi.Request) { r.System += " " },
		"tools":  func(r *modelapi.Request) { r.Tools = bytes.Replace(r.Tools, []byte("1.0"), []byte("1"), 1) },
		"text":   func(r *modelapi.Request) { r.Messages[0].Blocks[0].Text += "." },
		"raw":    func(r *modelapi.Request) { r.Messages[6].Blocks[0].Raw = []byte(`{"type":"text","text":"a"}`) },
	} {
		r := whole()
		change(&r)
		if other, _ := p.Prefix(r); other == first {
			t.Errorf("%s does not change the prefix", name)
		}
	}
}
