package anthropic

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

func text(s string) model.Block { return model.Block{Type: model.BlockText, Text: s} }

func user(bs ...model.Block) model.Message {
	return model.Message{Role: model.RoleUser, Blocks: bs}
}

func assistant(bs ...model.Block) model.Message {
	return model.Message{Role: model.RoleAssistant, Blocks: bs}
}

func own(raw string) model.Block { return view([]byte(raw)) }

func toolResult(id string, isError bool, parts ...model.Part) model.Block {
	return model.Block{Type: model.BlockToolResult, Result: &model.ToolResult{ID: id, IsError: isError, Content: parts}}
}

// whole is a conversation with everything that a request may hold.
func whole() modelapi.Request {
	r := ask("")
	r.System = "line\n\"quoted\" <b>"
	r.Tools = []byte("[\n {\"name\":\"A\", \"input_schema\":{\"z\":1.0,\"a\":2}},\n {\"name\":\"B\",\"input_schema\":{}}\n]")
	r.Messages = []model.Message{
		user(text("hi"), text(" \n"), model.Block{Type: model.BlockImage, Media: "image/png", Data: []byte{1, 2}}),
		user(model.Block{Type: model.BlockDocument, Media: "application/pdf", Data: []byte("%PDF")},
			model.Block{Type: model.BlockDocument, Media: "text/csv", Data: []byte("a,b")}),
		assistant(own(`{"type":"thinking","thinking":"","signature":"s" }`), own(`{"type":"text","text":""}`),
			own(`{"type":"tool_use","id":"t1","name":"A","input":{"b": 1.0}}`), own(`{"type":"tool_use","id":"t2","name":"B","input":{}}`)),
		user(text("meanwhile"), toolResult("t1", false, model.TextPart("out"), model.TextPart(""),
			model.Part{Type: model.BlockImage, Media: "image/gif", Data: []byte{3}})),
		user(toolResult("t2", true)),
		assistant(
			model.Block{Type: model.BlockThinking, Text: "foreign", Raw: []byte(`{"x":1}`), Provider: "openai"},
			model.Block{Type: model.BlockText, Text: "said", Raw: []byte(`{"type":"text","text":"s\u0061id"}`), Provider: "openai"},
			model.Block{Type: model.BlockToolUse, Provider: "openai", Tool: &model.ToolUse{ID: "functions.A:0", Name: "A", Input: []byte(`{"c": 2.0}`)}},
			model.Block{Type: model.BlockToolUse, Provider: "openai", Tool: &model.ToolUse{ID: "c2", Name: "A", Input: []byte(`{"cut`)}}),
		user(toolResult("functions.A:0", false), toolResult("c2", false)),
		assistant(own(`{"type":"text","text":" "}`)),
		user(text("end")),
	}
	return r
}

const wholeBody = `{"model":"claude-sonnet-4-5","max_tokens":1000,"stream":true,` +
	`"system":[{"type":"text","text":"line\n\"quoted\" <b>","cache_control":{"type":"ephemeral"}}],` +
	`"tools":[` + "\n " + `{"name":"A", "input_schema":{"z":1.0,"a":2}},` + "\n " + `{"name":"B","input_schema":{},"cache_control":{"type":"ephemeral"}}` + "\n" + `],` +
	`"messages":[{"role":"user","content":[{"type":"text","text":"hi"},` +
	`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQI="}},` +
	`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="}},` +
	`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a,b"}}]},` +
	`{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"s" },` +
	`{"type":"tool_use","id":"t1","name":"A","input":{"b": 1.0}},{"type":"tool_use","id":"t2","name":"B","input":{}}]},` +
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"out"},` +
	`{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"Aw=="}}]},` +
	`{"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"failed without a message"}]},` +
	`{"type":"text","text":"meanwhile","cache_control":{"type":"ephemeral"}}]},` +
	`{"role":"assistant","content":[{"type":"text","text":"said"},` +
	`{"type":"tool_use","id":"call_807892c7bde7d49a68c20d95f6de914b","name":"A","input":{"c": 2.0}},` +
	`{"type":"tool_use","id":"c2","name":"A","input":{"invalid_json":"{\"cut"}}]},` +
	`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_807892c7bde7d49a68c20d95f6de914b"},` +
	`{"type":"tool_result","tool_use_id":"c2"},{"type":"text","text":"end","cache_control":{"type":"ephemeral"}}]}]}`

// The body's bytes are exactly these. Rule 1: results first, all in the very next message. Rule 5: thinking verbatim
// before its tool call. Rule 7: user first, messages of a user in a row merged.
func TestBody(t *testing.T) {
	b, err := render(whole(), true)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != wholeBody {
		t.Errorf("got\n%s\nwant\n%s", b, wholeBody)
	}
	if !json.Valid(b) {
		t.Error("the body is no JSON")
	}
	if n := bytes.Count(b, []byte("cache_control")); n != 4 {
		t.Errorf("%d cache markers", n)
	}
}

// What can't be sent is refused before it is sent, as a failure that would fail again.
func TestRefusedRequests(t *testing.T) {
	for name, change := range map[string]func(*modelapi.Request){
		"no messages":      func(r *modelapi.Request) { r.Messages = nil },
		"assistant first":  func(r *modelapi.Request) { r.Messages = []model.Message{assistant(text("x"))} },
		"only blank":       func(r *modelapi.Request) { r.Messages = []model.Message{user(text(" "))} },
		"role":             func(r *modelapi.Request) { r.Messages[0].Role = "system" },
		"user's tool call": func(r *modelapi.Request) { r.Messages = append(r.Messages, user(own(`{"type":"tool_use"}`))) },
		"empty result": func(r *modelapi.Request) {
			r.Messages = append(r.Messages, user(model.Block{Type: model.BlockToolResult}))
		},
		"tool without tool": func(r *modelapi.Request) {
			r.Messages = append(r.Messages, assistant(model.Block{Type: model.BlockToolUse}))
		},
		"tools":      func(r *modelapi.Request) { r.Tools = []byte(`[{"name":`) },
		"max tokens": func(r *modelapi.Request) { r.MaxTokens = 0 },
	} {
		r := ask("hi")
		change(&r)
		w := &wire{}
		_, err := provider(w).Call(context.Background(), r, nil)
		if e := failure(t, err); e.Class != modelapi.ClassInvalid || e.Retryable() || w.got != nil {
			t.Errorf("%s: %v, sent: %v", name, e, w.got != nil)
		}
	}
}

// Thinking is asked for in the words that the model's version takes, and never changes what comes before the messages.
func TestThinking(t *testing.T) {
	for _, c := range []struct {
		model  string
		params modelapi.Params
		max    int64
		want   string
	}{
		{"claude-sonnet-4-5-20250929", modelapi.Params{}, 100, `"max_tokens":100,"stream":true,"system"`},
		{"claude-sonnet-4-5-20250929", modelapi.Params{Thinking: 2000}, 4000, `"max_tokens":4000,"stream":true,"thinking":{"type":"enabled","budget_tokens":2000},"system"`},
		{"claude-3-7-sonnet-latest", modelapi.Params{Thinking: 2000}, 2000, `"max_tokens":4000,"stream":true,"thinking":{"type":"enabled","budget_tokens":2000},"system"`},
		{"claude-opus-4-7", modelapi.Params{Thinking: 2000}, 100, `"max_tokens":100,"stream":true,"thinking":{"type":"adaptive"},"system"`},
		{"claude-sonnet-5-5", modelapi.Params{Thinking: 1, Effort: "high"}, 100, `"thinking":{"type":"adaptive"},"output_config":{"effort":"high"},"system"`},
		{"claude-opus-4-20250514", modelapi.Params{Thinking: 2000}, 4000, `"enabled"`},
		{"claude-haiku-5-5", modelapi.Params{Thinking: 2000}, 4000, `"adaptive"`},
		{"anthropic.claude-opus-4-8", modelapi.Params{Thinking: 2000}, 4000, `"adaptive"`},
		{"local", modelapi.Params{Thinking: 2000}, 4000, `"enabled"`},
	} {
		r := ask("hi")
		r.Model, r.Params, r.MaxTokens = c.model, c.params, c.max
		b, err := render(r, true)
		if err != nil || !strings.Contains(string(b), c.want) {
			t.Errorf("%s: %v: %s", c.model, err, b)
		}
	}
}

// Rule 4: what was sent before a reply keeps its bytes, message by message, whatever is appended and wherever the
// markers move.
func TestPrefixGrowsOnly(t *testing.T) {
	r := whole()
	var before []byte
	for n := 1; n <= len(r.Messages); n++ {
		part := r
		part.Messages = r.Messages[:n]
		b, err := prefix(part)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("cache_control")) {
			t.Fatal("a marker is in the prefix")
		}
		// The end of the array, and of a user message that grows, is all that may differ. The fifth message brings a
		// late result, which goes before the text of the fourth: no reply stood between them.
		if !bytes.HasPrefix(b, bytes.TrimSuffix(bytes.TrimSuffix(before, []byte(`]`)), []byte(`]}`))) && n != 5 {
			t.Errorf("message %d changed what was sent:\n%s\n%s", n, before, b)
		}
		marked, err := render(part, true)
		if err != nil {
			t.Fatal(err)
		}
		plain := bytes.ReplaceAll(marked, []byte(","+marker), nil)
		if !bytes.HasSuffix(plain, append(bytes.Clone(b), '}')) {
			t.Errorf("without its markers the body is not the prefix:\n%s\n%s", plain, b)
		}
		before = b
	}
}

// The prefix is the same again, in another process too, and differs when anything in it does.
func TestPrefixDigest(t *testing.T) {
	p := New(Config{})
	first, err := p.Prefix(whole())
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("PRINT_PREFIX") != "" {
		os.Stdout.WriteString("prefix=" + hex.EncodeToString(first[:]) + "\n")
		return
	}
	same := whole()
	same.Act, same.MaxTokens, same.Model, same.Params.Effort = "other", 9, "other", "low"
	if again, _ := p.Prefix(same); again != first {
		t.Error("what is no part of the prefix changes it")
	}
	for name, change := range map[string]func(*modelapi.Request){
		"system": func(r *modelapi.Request) { r.System += " " },
		"tools":  func(r *modelapi.Request) { r.Tools = append(r.Tools, ' ') },
		"text":   func(r *modelapi.Request) { r.Messages[0].Blocks[0].Text += "." },
		"raw":    func(r *modelapi.Request) { r.Messages[2].Blocks[0].Raw = []byte(`{"type":"thinking"}`) },
		"more": func(r *modelapi.Request) {
			r.Messages = append(r.Messages, assistant(own(`{"type":"text","text":"x"}`)))
		},
	} {
		r := whole()
		change(&r)
		if other, _ := p.Prefix(r); other == first {
			t.Errorf("%s does not change the prefix", name)
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPrefixDigest$")
	cmd.Env = append(os.Environ(), "PRINT_PREFIX=1")
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "prefix="+hex.EncodeToString(first[:])) {
		t.Errorf("another process: %v %s, want %s", err, out, hex.EncodeToString(first[:]))
	}
}

// The key goes where the API's version wants it, and the address is completed.
func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		base    string
		bearer  bool
		version string
		url     string
		key     string
	}{
		{"", false, "", "https://api.anthropic.com/v1/messages", "X-Api-Key: k"},
		{"http://x", false, Version2023, "http://x/v1/messages", "X-Api-Key: k"},
		{"http://x/", true, "", "http://x/v1/messages", "Authorization: Bearer k"},
		{"http://x/v1/", false, Version2026, "http://x/v1/messages", "Authorization: Bearer k"},
	} {
		w := &wire{body: frames(begin, ended("end_turn"), done)}
		p := New(Config{BaseURL: c.base, Key: "k", Bearer: c.bearer, UserAgent: "me/1", HTTP: &http.Client{Transport: w}})
		r := ask("hi")
		r.Params = modelapi.Params{APIVersion: c.version, Betas: []string{"a", "b"}}
		if _, err := p.Call(context.Background(), r, nil); err != nil {
			t.Fatal(err)
		}
		name, value, _ := strings.Cut(c.key, ": ")
		h := w.got.Header
		if w.got.URL.String() != c.url || h.Get(name) != value || len(h.Values("Authorization"))+len(h.Values("X-Api-Key")) != 1 {
			t.Errorf("%+v: %s %v", c, w.got.URL, h)
		}
		if h.Get("Anthropic-Beta") != "a,b" || h.Get("User-Agent") != "me/1" || h.Get("Anthropic-Version") == "" || h.Get("Content-Type") != "application/json" {
			t.Errorf("%v", h)
		}
	}
}

// Counting sends the same prefix and neither a bound nor a stream.
func TestCountTokens(t *testing.T) {
	w := &wire{header: http.Header{"Content-Type": {"application/json"}}, body: strings.NewReader(`{"input_tokens":123}`)}
	r := ask("hi")
	r.MaxTokens = 0
	n, err := provider(w).CountTokens(context.Background(), r)
	if err != nil || n != 123 || !strings.HasSuffix(w.got.URL.Path, "/v1/messages/count_tokens") {
		t.Errorf("%d %v %s", n, err, w.got.URL)
	}
	if strings.Contains(w.payload, "max_tokens") || strings.Contains(w.payload, "stream") {
		t.Errorf("sent %s", w.payload)
	}
	for _, bad := range []string{`{}`, `x`, ``} {
		w.body = strings.NewReader(bad)
		if _, err := provider(w).CountTokens(context.Background(), r); failure(t, err).Class != modelapi.ClassProtocol {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
