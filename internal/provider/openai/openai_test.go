package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/provider/sse"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// wire is a server without a network: it keeps the last request and answers with what it was given.
type wire struct {
	body    io.Reader
	got     *http.Request
	payload string
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.got = r
	b, err := io.ReadAll(r.Body)
	w.payload = string(b)
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(w.body), Request: r}, err
}

func frames(events ...string) io.Reader {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return strings.NewReader(b.String())
}

func text(s string) model.Block { return model.Block{Type: model.BlockText, Text: s} }

func user(bs ...model.Block) model.Message {
	return model.Message{Role: model.RoleUser, Blocks: bs}
}

func assistant(bs ...model.Block) model.Message {
	return model.Message{Role: model.RoleAssistant, Blocks: bs}
}

func toolResult(id string, isError bool, parts ...model.Part) model.Block {
	return model.Block{Type: model.BlockToolResult, Result: &model.ToolResult{ID: id, IsError: isError, Content: parts}}
}

func ask() modelapi.Request {
	return modelapi.Request{Act: "t1.s1.b0.a1", Model: "m", System: "be good", MaxTokens: 100, Messages: []model.Message{user(text("hi"))}}
}

func call(events ...string) (*modelapi.Response, error) {
	return New(Config{HTTP: &http.Client{Transport: &wire{body: frames(events...)}}}).Call(context.Background(), ask(), nil)
}

func failure(t *testing.T, err error) *modelapi.Error {
	t.Helper()
	e, ok := errors.AsType[*modelapi.Error](err)
	if !ok {
		t.Fatalf("error is %v, not a *modelapi.Error", err)
	}
	return e
}

// d is a chunk with a delta, end one with a finish reason.
func d(delta string) string {
	return `{"id":"c1","model":"m-1","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`
}

func end(reason string) string {
	return `{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

const (
	usage = `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":7}}}`
	done  = `[DONE]`
)

func tool(index, id, name, args string) string {
	t := `{`
	if index != "" {
		t += `"index":` + index + `,`
	}
	if id != "" {
		t += `"id":"` + id + `",`
	}
	return d(`{"tool_calls":[` + t + `"function":{"name":"` + name + `","arguments":` + args + `}}]}`)
}

// say spells what a response holds, shortly.
func say(r *modelapi.Response) string {
	var out []string
	for _, b := range r.Blocks {
		switch {
		case b.Tool != nil:
			out = append(out, b.Tool.ID+":"+b.Tool.Name+string(b.Tool.Input))
		default:
			out = append(out, string(b.Type)+":"+b.Text)
		}
	}
	return string(r.Stop) + " " + strings.Join(out, "|")
}

// Replies are understood as servers really send them.
func TestReplies(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []string
		want   string
	}{
		{"text", []string{d(`{"role":"assistant","content":""}`), d(`{"content":"a\ud83d"}`), d(`{"content":"\ude00"}`), end("stop"), usage, done}, "end_turn text:a😀"},
		{"nothing", []string{d(`{"role":"assistant","content":null}`), end("stop"), done}, "end_turn "},
		{"cut calls", []string{tool("0", "a", "f", `"{\"x\":"`), tool("1", "b", "g", `""`), tool("0", "", "", `" 1.0}"`), tool("1", "", "", `"{}"`), end("tool_calls"), done}, `tool_use a:f{"x": 1.0}|b:g{}`},
		{"whole calls", []string{d(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"b","type":"function","function":{"name":"f","arguments":"{\"y\":2}"}}]}`), end("tool_calls"), done}, `tool_use a:f{}|b:f{"y":2}`},
		{"stop with calls", []string{tool("0", "a", "f", `"{}"`), end("stop"), done}, `tool_use a:f{}`},
		{"no index", []string{tool("", "a", "f", `"{\"x\":"`), tool("", "", "", `"1}"`), tool("", "b", "f", `"{}"`), end("tool_calls"), done}, `tool_use a:f{"x":1}|b:f{}`},
		{"no index, no id", []string{tool("", "", "f", `"{}"`), tool("", "", "f", `"{}"`), end("tool_calls"), done}, `tool_use call_t1_s1_b0_0:f{}|call_t1_s1_b0_1:f{}`},
		{"every index 0", []string{tool("0", "a", "f", `"{}"`), tool("0", "b", "g", `"{}"`), end("tool_calls"), done}, `tool_use a:f{}|b:g{}`},
		{"new id with each piece", []string{tool("0", "a", "f", `"{"`), tool("0", "b", "", `"}"`), end("tool_calls"), done}, `tool_use a:f{}`},
		{"name again", []string{tool("0", "a", "f", `"{"`), tool("0", "a", "f", `"}"`), end("tool_calls"), done}, `tool_use a:f{}`},
		{"no id", []string{tool("0", "", "f", `"{}"`), end("tool_calls"), done}, `tool_use call_t1_s1_b0_0:f{}`},
		{"same id", []string{tool("0", "a", "f", `"{}"`), tool("1", "a", "g", `"{}"`), end("tool_calls"), done}, `tool_use a:f{}|call_t1_s1_b0_1:g{}`},
		{"odd id", []string{tool("0", "functions.f:0", "f", `"{}"`), end("tool_calls"), done}, `tool_use functions.f:0:f{}`},
		{"no arguments", []string{tool("0", "a", "f", `""`), end("tool_calls"), done}, `tool_use a:f{}`},
		{"arguments as object", []string{tool("0", "a", "f", `{"x": 1.0}`), end("tool_calls"), done}, `tool_use a:f{"x": 1.0}`},
		{"broken arguments", []string{tool("0", "a", "f", `"{\"x\":"`), end("tool_calls"), done}, `tool_use a:f{"x":`},
		{"cut by the limit", []string{d(`{"content":"x"}`), tool("0", "a", "f", `"{}"`), tool("1", "b", "f", `"{\"x"`), end("length"), done}, `max_tokens text:x|a:f{}`},
		{"cut before arguments", []string{tool("0", "a", "f", `""`), end("length"), done}, `max_tokens `},
		{"empty frame", []string{d(`{"tool_calls":[]}`), d(`{"tool_calls":[{"index":0,"function":{"arguments":""}}],"content":"x"}`), end("stop"), done}, `end_turn text:x`},
		{"reasoning_content", []string{d(`{"reasoning_content":"h"}`), d(`{"reasoning_content":"m","content":null}`), d(`{"content":"x"}`), end("stop"), done}, `end_turn thinking:hm|text:x`},
		{"reasoning", []string{d(`{"reasoning":"hm","content":""}`), d(`{"content":"x"}`), end("stop"), done}, `end_turn thinking:hm|text:x`},
		{"both names", []string{d(`{"reasoning":"hm","reasoning_content":"hm"}`), end("stop"), done}, `end_turn thinking:hm`},
		{"parts", []string{d(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`), end("stop"), done}, `end_turn text:ab`},
		{"refusal", []string{d(`{"refusal":"I won't"}`), end("stop"), done}, `refusal text:I won't`},
		{"filter", []string{d(`{"content":"x"}`), end("content_filter"), done}, `refusal text:x`},
		{"message instead of delta", []string{`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`, done}, `end_turn text:x`},
		{"no DONE", []string{d(`{"content":"x"}`), end("stop"), usage}, `end_turn text:x`},
		{"no finish reason", []string{d(`{"content":"x"}`), done}, `end_turn text:x`},
		{"odd finish reason", []string{d(`{"content":"x"}`), end("eos"), done}, `end_turn text:x`},
		{"other choices", []string{`{"choices":[{"index":1,"delta":{"content":"no"}}]}`, d(`{"content":"x"}`), end("stop"), done}, `end_turn text:x`},
	} {
		resp, err := call(c.events...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := say(resp); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		for _, b := range resp.Blocks {
			if !json.Valid(b.Raw) || b.Provider != Name {
				t.Errorf("%s: %s", c.name, b.Raw)
			}
		}
	}
}

// Counts are disjoint: the cached part of the prompt is no input. No counts are told as such.
func TestUsage(t *testing.T) {
	for in, want := range map[string]model.Usage{
		`"usage":{"prompt_tokens":10,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":7}}`:                        {Input: 3, Output: 4, CacheRead: 7},
		`"usage":{"prompt_tokens":10,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":7,"cache_write_tokens":2}}`: {Input: 1, Output: 4, CacheRead: 7, CacheWrite: 2},
		`"usage":{"prompt_tokens":10,"completion_tokens":4,"prompt_tokens_details":null}`:                                       {Input: 10, Output: 4},
		`"usage":{"prompt_tokens":10,"completion_tokens":4,"prompt_cache_hit_tokens":6}`:                                        {Input: 4, Output: 4, CacheRead: 6},
		`"usage":{"prompt_tokens":5,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":7}}`:                         {Output: 4, CacheRead: 5},
		`"x_groq":{"usage":{"prompt_tokens":1,"completion_tokens":2}}`:                                                          {Input: 1, Output: 2},
		`"usage":null`: {},
		`"usage":{}`:   {},
	} {
		resp, err := call(d(`{"content":"x"}`), end("stop"), `{"choices":[],`+in+`}`, done)
		if err != nil || resp.Usage != want || resp.Unmetered != (want == model.Usage{}) {
			t.Errorf("%s: got %+v %v", in, resp, err)
		}
	}
	resp, err := call(d(`{"content":"x"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":1,"completion_tokens":2}}]}`, done)
	if err != nil || resp.Usage.Output != 2 || resp.ID != "c1" || resp.Model != "m-1" {
		t.Errorf("got %+v %v", resp, err)
	}
}

// A reply that is not whole is a failure, never a response.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name    string
		events  []string
		class   modelapi.Class
		started bool
	}{
		{"nothing", nil, modelapi.ClassDisconnect, false},
		{"only DONE", []string{done}, modelapi.ClassProtocol, false},
		{"no end", []string{d(`{"content":"x"}`)}, modelapi.ClassDisconnect, true},
		{"no counts and no DONE", []string{d(`{"content":"x"}`), end("stop")}, modelapi.ClassDisconnect, true},
		{"no JSON", []string{d(`{}`), `}{`}, modelapi.ClassProtocol, true},
		{"no object", []string{`"x"`}, modelapi.ClassProtocol, false},
		{"error", []string{d(`{"content":"x"}`), `{"error":{"message":"upstream","code":502}}`}, modelapi.ClassServer, true},
		{"error in a choice", []string{`{"choices":[{"error":{"code":429,"message":"slow"},"finish_reason":"error"}]}`}, modelapi.ClassRateLimit, true},
		{"window", []string{`{"error":{"message":"This model's maximum context length is 1"}}`}, modelapi.ClassContext, false},
		{"gave up", []string{d(`{"content":"x"}`), end("error"), done}, modelapi.ClassServer, true},
		{"content is no text", []string{d(`{"content":7}`)}, modelapi.ClassProtocol, true},
		{"unknown part", []string{d(`{"content":[{"type":"image"}]}`)}, modelapi.ClassProtocol, true},
		{"reasoning is no text", []string{d(`{"reasoning":{}}`)}, modelapi.ClassProtocol, true},
		{"calls are no array", []string{d(`{"tool_calls":{}}`)}, modelapi.ClassProtocol, true},
		{"call is no object", []string{d(`{"tool_calls":[1]}`)}, modelapi.ClassProtocol, true},
		{"call without a name", []string{tool("0", "a", "", `"{}"`), end("tool_calls"), done}, modelapi.ClassProtocol, true},
	} {
		resp, err := call(c.events...)
		e := failure(t, err)
		if resp != nil || e.Class != c.class || e.Started != c.started || e.Usage.Output != 0 {
			t.Errorf("%s: got %v %+v", c.name, resp, e)
		}
	}
	var many []string
	for range maxCalls + 1 {
		many = append(many, `{"function":{"name":"f","arguments":"{}"}}`)
	}
	if _, err := call(d(`{"tool_calls":[` + strings.Join(many, ",") + `]}`)); failure(t, err).Class != modelapi.ClassProtocol {
		t.Errorf("got %v", err)
	}
}

// The bytes of a reply go back as they came: escapes, spaces and numbers of arguments, text and its escapes.
func TestBytesGoBack(t *testing.T) {
	resp, err := call(d(`{"reasoning_content":"h\u006d"}`), d(`{"content":"a\u0062 <b>"}`),
		tool("0", "a", "f", `"{\"b\": 1.0,\"a\": 1234567890"`), tool("0", "", "", `"1234567890, \"u\":\"\\u00e9\u00e9\"}"`), end("tool_calls"), done)
	if err != nil {
		t.Fatal(err)
	}
	const call = `{"id":"a","type":"function","function":{"name":"f","arguments":"{\"b\": 1.0,\"a\": 12345678901234567890, \"u\":\"\\u00e9\u00e9\"}"}}`
	const input = `{"b": 1.0,"a": 12345678901234567890, "u":"\u00e9é"}`
	if got := resp.Blocks[2]; string(got.Raw) != call || string(got.Tool.Input) != input {
		t.Errorf("got %s\n%s", got.Raw, got.Tool.Input)
	}
	r := ask()
	r.Messages = append(r.Messages, assistant(resp.Blocks...), user(toolResult("a", false)))
	for _, back := range []bool{false, true} {
		body, err := New(Config{ReturnReasoning: back}).render(r)
		reasoning := ""
		if back {
			reasoning = `,"reasoning_content":"h\u006d"`
		}
		want := `{"role":"assistant","content":"a\u0062 <b>"` + reasoning + `,"tool_calls":[` + call + `]}`
		if err != nil || !bytes.Contains(body, []byte(want)) {
			t.Errorf("%v: got %s, want %s", err, body, want)
		}
	}
}

// Whatever a server sends: no panic, and a response that comes of it can be sent back as valid JSON.
func FuzzAssemble(f *testing.F) {
	for _, s := range [][]string{
		{d(`{"reasoning":"x"}`), d(`{"content":"x"}`), tool("0", "a", "f", `"{}"`), tool("", "", "g", `{}`), end("tool_calls"), usage, done},
		{d(`{"content":[{"type":"text","text":"a"}]}`), end("length"), done},
		{d(`{"refusal":"no"}`), usage, done},
	} {
		f.Add([]byte(strings.Join(s, "\n")))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var events bytes.Buffer
		for _, line := range bytes.Split(in, []byte("\n")) {
			events.WriteString("data: " + string(line) + "\n\n")
		}
		r := ask()
		a := newAssembler(Name, r, "", nil)
		stream := sse.NewReader(&events)
		for !a.done {
			e, err := stream.Next()
			if err == nil {
				err = a.event(e.Data)
			} else {
				err = a.end(err)
			}
			if err != nil {
				if err := a.lost(err); err == nil {
					t.Fatal("a failure got lost")
				}
				return
			}
		}
		resp, err := a.response()
		if err != nil {
			return
		}
		ids := map[string]bool{}
		answer := user(text("next"))
		for _, b := range resp.Blocks {
			if b.Tool != nil {
				if ids[b.Tool.ID] || b.Tool.ID == "" {
					t.Fatalf("the id %q is empty or repeated", b.Tool.ID)
				}
				ids[b.Tool.ID] = true
				answer.Blocks = append(answer.Blocks, toolResult(b.Tool.ID, false))
			}
		}
		r.Messages = append(r.Messages, assistant(resp.Blocks...), answer)
		if body, err := New(Config{ReturnReasoning: true}).render(r); err != nil || !json.Valid(body) {
			t.Fatalf("the reply can't go back: %v\n%s", err, body)
		}
	})
}
