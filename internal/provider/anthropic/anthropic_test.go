package anthropic

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// wire is a server without a network: it keeps the last request and answers with what it was given.
type wire struct {
	status int
	header http.Header
	body   io.Reader
	err    error

	got     *http.Request
	payload string
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.got = r
	if r.Body != nil {
		b, _ := io.ReadAll(r.Body)
		w.payload = string(b)
	}
	if w.err != nil {
		return nil, w.err
	}
	h := w.header
	if h == nil {
		h = http.Header{"Content-Type": {"text/event-stream"}}
	}
	status := w.status
	if status == 0 {
		status = 200
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(w.body), Request: r}, nil
}

func provider(w *wire) *Provider {
	return New(Config{Key: "k", HTTP: &http.Client{Transport: w}})
}

// frames makes a stream of events; each argument is one event's JSON.
func frames(events ...string) io.Reader {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("event: x\ndata: " + e + "\n\n")
	}
	return strings.NewReader(b.String())
}

const (
	begin = `{"type":"message_start","message":{"id":"msg_1","model":"m-1","usage":{"input_tokens":10,"cache_read_input_tokens":3,"cache_creation_input_tokens":4,"output_tokens":1}}}`
	done  = `{"type":"message_stop"}`
)

func ended(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":7}}`
}

func ask(text string) modelapi.Request {
	return modelapi.Request{
		Act: "t1.s1.b0.a1", Model: "claude-sonnet-4-5", System: "be good", MaxTokens: 1000,
		Tools:    []byte(`[{"name":"Bash","description":"runs","input_schema":{"type":"object"}}]`),
		Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Type: model.BlockText, Text: text}}}},
	}
}

func call(t *testing.T, r modelapi.Request, events ...string) (*modelapi.Response, error) {
	t.Helper()
	return provider(&wire{body: frames(events...)}).Call(context.Background(), r, nil)
}

func mustCall(t *testing.T, r modelapi.Request, events ...string) *modelapi.Response {
	t.Helper()
	resp, err := call(t, r, events...)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func failure(t *testing.T, err error) *modelapi.Error {
	t.Helper()
	e, ok := errors.AsType[*modelapi.Error](err)
	if !ok {
		t.Fatalf("error is %v, not a *modelapi.Error", err)
	}
	return e
}

// The bytes of a block are the provider's: number spelling, key order, escapes and unknown fields survive.
func TestBytesOfAReplyAreKept(t *testing.T) {
	resp := mustCall(t, ask("hi"), begin,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","new_field":{"z":1.0,"a":2}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"so \ud83d"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"\ude00 <b>"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"from_tomorrow","blob":{"b":1e3,"a":12345678901234567890}}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"ping"}`, `{"type":"event_from_tomorrow"}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"redacted_thinking","data":"xyz"}}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"text","text":"","citations":null}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"a\u0062 "}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"citations_delta","citation":{"n":1.50}}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"c"}}`,
		`{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}}`,
		`{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"b\": 1."}}`,
		`{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"0,\"a\": 12345678901234567890}"}}`,
		ended("tool_use"), done)
	want := []struct {
		kind model.BlockType
		raw  string
		text string
	}{
		{model.BlockThinking, `{"type":"thinking","thinking":"so \ud83d\ude00 <b>","new_field":{"z":1.0,"a":2},"signature":"c2ln"}`, "so 😀 <b>"},
		{model.BlockOther, `{"type":"from_tomorrow","blob":{"b":1e3,"a":12345678901234567890}}`, ""},
		{model.BlockThinking, `{"type":"redacted_thinking","data":"xyz"}`, ""},
		{model.BlockText, `{"type":"text","text":"a\u0062 c","citations":[{"n":1.50}]}`, "ab c"},
		{model.BlockToolUse, `{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"b": 1.0,"a": 12345678901234567890}}`, ""},
	}
	if len(resp.Blocks) != len(want) {
		t.Fatalf("got %d blocks", len(resp.Blocks))
	}
	for i, w := range want {
		b := resp.Blocks[i]
		if b.Type != w.kind || string(b.Raw) != w.raw || b.Text != w.text || b.Provider != Name {
			t.Errorf("block %d: %s %q\n got %s\nwant %s", i, b.Type, b.Text, b.Raw, w.raw)
		}
	}
	if in := string(resp.Blocks[4].Tool.Input); in != `{"b": 1.0,"a": 12345678901234567890}` {
		t.Errorf("input %s", in)
	}
	if want := (model.Usage{Input: 10, Output: 7, CacheRead: 3, CacheWrite: 4}); resp.Usage != want || resp.Unmetered {
		t.Errorf("usage %+v", resp.Usage)
	}
	if resp.ID != "msg_1" || resp.Model != "m-1" || resp.Stop != modelapi.StopToolUse {
		t.Errorf("got %q %q %q", resp.ID, resp.Model, resp.Stop)
	}

	// What came goes back byte for byte.
	r := ask("hi")
	r.Messages = append(r.Messages, model.Message{Role: model.RoleAssistant, Blocks: resp.Blocks}, results("toolu_1"))
	body, err := render(r, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		if !strings.Contains(string(body), w.raw) {
			t.Errorf("not sent back: %s", w.raw)
		}
	}
}

func results(ids ...string) model.Message {
	m := model.Message{Role: model.RoleUser}
	for _, id := range ids {
		m.Blocks = append(m.Blocks, model.Block{
			Type: model.BlockToolResult, Result: &model.ToolResult{ID: id, Content: []model.Part{model.TextPart("ok")}},
		})
	}
	return m
}
