package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/provider/sse"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

func start(i, block string) string {
	return `{"type":"content_block_start","index":` + i + `,"content_block":` + block + `}`
}

func delta(i, d string) string {
	return `{"type":"content_block_delta","index":` + i + `,"delta":` + d + `}`
}

func fragment(i, json string) string {
	b, _ := jsonString(json)
	return delta(i, `{"type":"input_json_delta","partial_json":`+b+`}`)
}

func jsonString(s string) (string, error) {
	b, err := json.Marshal(s)
	return string(b), err
}

func toolStart(i, id string) string {
	return start(i, `{"type":"tool_use","id":"`+id+`","name":"Bash","input":{}}`)
}

func textBlock(i, s string) []string {
	return []string{start(i, `{"type":"text","text":""}`), delta(i, `{"type":"text_delta","text":"`+s+`"}`)}
}

// Stop reasons are normalised; rule 6: pause_turn and refusal are told apart from an end.
func TestStopReasons(t *testing.T) {
	for in, want := range map[string]modelapi.StopReason{
		"end_turn": modelapi.StopEndTurn, "stop_sequence": modelapi.StopEndTurn, "tool_use": modelapi.StopToolUse,
		"max_tokens": modelapi.StopMaxTokens, "pause_turn": modelapi.StopPause, "compaction": modelapi.StopPause,
		"refusal": modelapi.StopRefusal, "model_context_window_exceeded": modelapi.StopContext,
	} {
		resp := mustCall(t, ask("hi"), append([]string{begin}, append(textBlock("0", "x"), ended(in), done)...)...)
		if resp.Stop != want || len(resp.Blocks) != 1 {
			t.Errorf("%s: got %s", in, resp.Stop)
		}
	}
	// A compatible server that says end_turn beside a tool call means the call.
	if resp := mustCall(t, ask("hi"), begin, toolStart("0", "a"), ended("end_turn"), done); resp.Stop != modelapi.StopToolUse {
		t.Errorf("got %s", resp.Stop)
	}
}

// Rule 6: a tool call that the output limit cut is dropped, a whole one is kept.
func TestCutToolCalls(t *testing.T) {
	for _, c := range []struct {
		name      string
		fragments []string
		stop      string
		input     string // empty: dropped
	}{
		{"cut", []string{`{"a": "lo`}, "max_tokens", ""},
		{"nothing yet", nil, "max_tokens", ""},
		{"empty fragment", []string{""}, "max_tokens", ""},
		{"cut by the window", []string{`{"a":`}, "model_context_window_exceeded", ""},
		{"cut by a refusal", []string{`{"a":`}, "refusal", ""},
		{"whole", []string{`{"a": `, `"lo"}`}, "max_tokens", `{"a": "lo"}`},
		{"no arguments", nil, "tool_use", `{}`},
		{"blank arguments", []string{" "}, "tool_use", `{}`},
		{"split escapes", []string{`{"a":"\ud8`, `3d\ude00"}`}, "tool_use", `{"a":"\ud83d\ude00"}`},
	} {
		events := append([]string{begin}, textBlock("0", "x")...)
		events = append(events, toolStart("1", "first"), fragment("1", `{}`), toolStart("2", "second"))
		for _, f := range c.fragments {
			events = append(events, fragment("2", f))
		}
		resp := mustCall(t, ask("hi"), append(events, ended(c.stop), done)...)
		if c.input == "" {
			if len(resp.Blocks) != 2 || resp.Blocks[1].Tool.ID != "first" {
				t.Errorf("%s: got %d blocks", c.name, len(resp.Blocks))
			}
			continue
		}
		if len(resp.Blocks) != 3 || string(resp.Blocks[2].Tool.Input) != c.input || !bytes.Contains(resp.Blocks[2].Raw, []byte(`"input":`+c.input)) {
			t.Errorf("%s: got %+v", c.name, resp.Blocks[len(resp.Blocks)-1].Tool)
		}
	}
}

// A missing or repeated id is replaced in the view and in the bytes, by one that comes from the act.
func TestToolIDs(t *testing.T) {
	r := ask("hi")
	r.Messages = append(r.Messages, assistant(own(`{"type":"tool_use","id":"old","name":"A","input":{}}`)), user(toolResult("old", false)))
	resp := mustCall(t, r, begin, toolStart("0", "new"), toolStart("1", "new"), toolStart("2", "old"), toolStart("3", ""),
		start("4", `{"type":"tool_use","name":"Bash"}`), ended("tool_use"), done)
	want := []string{"new", "call_t1_s1_b0_1", "call_t1_s1_b0_2", "call_t1_s1_b0_3", "call_t1_s1_b0_4"}
	for i, b := range resp.Blocks {
		if b.Tool.ID != want[i] || !strings.Contains(string(b.Raw), `"id":"`+want[i]+`"`) || !json.Valid(b.Raw) {
			t.Errorf("block %d: %q in %s", i, b.Tool.ID, b.Raw)
		}
	}
}

// Counts are cumulative and disjoint, whichever event says them; none at all is told.
func TestUsage(t *testing.T) {
	for _, c := range []struct {
		first, last string
		want        model.Usage
		unmetered   bool
	}{
		{`{"input_tokens":5,"output_tokens":1}`, `{"output_tokens":9}`, model.Usage{Input: 5, Output: 9}, false},
		{`{"input_tokens":0}`, `{"input_tokens":5,"output_tokens":9,"cache_read_input_tokens":2}`, model.Usage{Input: 5, Output: 9, CacheRead: 2}, false},
		{`{"input_tokens":5,"cache_creation_input_tokens":null}`, `{"input_tokens":0,"output_tokens":3.0}`, model.Usage{Input: 5, Output: 3}, false},
		{`{"input_tokens":-5}`, `null`, model.Usage{}, true},
		{`null`, `{}`, model.Usage{}, true},
	} {
		resp := mustCall(t, ask("hi"), `{"type":"message_start","message":{"id":"m","usage":`+c.first+`}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":`+c.last+`}`, done)
		if resp.Usage != c.want || resp.Unmetered != c.unmetered {
			t.Errorf("%s %s: got %+v %v", c.first, c.last, resp.Usage, resp.Unmetered)
		}
	}
}

// Rule 3: a reply that is not whole is a failure with what the request took, never a response.
func TestFailures(t *testing.T) {
	asked := model.Usage{Input: 10, CacheRead: 3, CacheWrite: 4}
	for _, c := range []struct {
		name    string
		events  []string
		class   modelapi.Class
		started bool
	}{
		{"nothing", nil, modelapi.ClassDisconnect, false},
		{"only a start", []string{begin}, modelapi.ClassDisconnect, true},
		{"no message_stop", append([]string{begin}, append(textBlock("0", "x"), ended("end_turn"))...), modelapi.ClassDisconnect, true},
		{"no stop reason", []string{begin, done}, modelapi.ClassProtocol, true},
		{"unknown stop reason", []string{begin, ended("tired"), done}, modelapi.ClassProtocol, true},
		{"overloaded", []string{begin, `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`}, modelapi.ClassServer, true},
		{"error first", []string{`{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`}, modelapi.ClassRateLimit, false},
		{"no JSON", []string{begin, `{"type":`}, modelapi.ClassProtocol, true},
		{"no object", []string{`[1]`}, modelapi.ClassProtocol, false},
		{"no start", []string{done}, modelapi.ClassProtocol, false},
		{"two starts", []string{begin, begin}, modelapi.ClassProtocol, true},
		{"a block is missing", []string{begin, toolStart("1", "a")}, modelapi.ClassProtocol, true},
		{"a block twice", []string{begin, toolStart("0", "a"), toolStart("0", "a")}, modelapi.ClassProtocol, true},
		{"no block", []string{begin, `{"type":"content_block_start","index":0}`}, modelapi.ClassProtocol, true},
		{"no type", []string{begin, start("0", `{"text":""}`)}, modelapi.ClassProtocol, true},
		{"no name", []string{begin, start("0", `{"type":"tool_use","id":"a"}`)}, modelapi.ClassProtocol, true},
		{"delta without a block", []string{begin, fragment("0", "{}")}, modelapi.ClassProtocol, true},
		{"negative index", []string{begin, fragment("-1", "{}")}, modelapi.ClassProtocol, true},
		{"unknown delta", []string{begin, toolStart("0", "a"), delta("0", `{"type":"delta_from_tomorrow"}`)}, modelapi.ClassProtocol, true},
		{"delta without its text", []string{begin, toolStart("0", "a"), delta("0", `{"type":"text_delta"}`)}, modelapi.ClassProtocol, true},
		{"input is broken", []string{begin, toolStart("0", "a"), fragment("0", `{"a":`), ended("tool_use"), done}, modelapi.ClassProtocol, true},
		{"input is no object", []string{begin, toolStart("0", "a"), fragment("0", `[1]`), ended("tool_use"), done}, modelapi.ClassProtocol, true},
	} {
		w := &wire{body: frames(c.events...), header: http.Header{"Request-Id": {"req_1"}}}
		resp, err := provider(w).Call(context.Background(), ask("hi"), nil)
		e := failure(t, err)
		want := model.Usage{}
		if c.started {
			want = asked
		}
		if resp != nil || e.Class != c.class || e.Started != c.started || e.Usage != want || e.RequestID != "req_1" || !e.Retryable() {
			t.Errorf("%s: got %v %+v", c.name, resp, e)
		}
	}
	if _, err := provider(&wire{err: errors.New("no route")}).Call(context.Background(), ask("hi"), nil); failure(t, err).Class != modelapi.ClassUnreached {
		t.Errorf("got %v", err)
	}
	broken := io.MultiReader(frames(begin), failing{})
	if _, err := provider(&wire{body: broken}).Call(context.Background(), ask("hi"), nil); failure(t, err).Class != modelapi.ClassDisconnect || failure(t, err).Usage != asked {
		t.Errorf("got %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("connection reset by peer") }

// The sink sees what comes, as it comes.
func TestDeltas(t *testing.T) {
	var got []modelapi.Delta
	w := &wire{body: frames(begin, start("0", `{"type":"thinking","thinking":"","signature":""}`),
		delta("0", `{"type":"thinking_delta","thinking":"hm","estimated_tokens":3}`), delta("0", `{"type":"signature_delta","signature":"s"}`),
		start("1", `{"type":"text","text":""}`), delta("1", `{"type":"text_delta","text":"a\n"}`), toolStart("2", "t"),
		fragment("2", ""), fragment("2", `{"a":`), fragment("2", `1}`), ended("tool_use"), done)}
	if _, err := provider(w).Call(context.Background(), ask("hi"), func(d modelapi.Delta) { got = append(got, d) }); err != nil {
		t.Fatal(err)
	}
	want := []modelapi.Delta{
		{Kind: modelapi.DeltaStart, Usage: model.Usage{Input: 10, CacheRead: 3, CacheWrite: 4}},
		{Kind: modelapi.DeltaThinking, Text: "hm"},
		{Kind: modelapi.DeltaText, Text: "a\n"},
		{Kind: modelapi.DeltaTool, Tool: "Bash", ID: "t"},
		{Kind: modelapi.DeltaTool, Text: `{"a":`},
		{Kind: modelapi.DeltaTool, Text: "1}"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// Whatever a server sends: no panic, and a response that comes of it can be sent back as valid JSON.
func FuzzAssemble(f *testing.F) {
	f.Add([]byte(strings.Join([]string{
		begin, start("0", `{"type":"text","text":""}`), delta("0", `{"type":"text_delta","text":"x"}`),
		delta("0", `{"type":"citations_delta","citation":{}}`), toolStart("1", ""), fragment("1", `{"a":1}`), ended("tool_use"), done,
	}, "\n")))
	f.Add([]byte(begin + "\n" + start("0", `{"type":"compaction","content":null}`) + "\n" +
		delta("0", `{"type":"compaction_delta","content":"x"}`) + "\n" + ended("compaction") + "\n" + done))
	f.Add([]byte(begin + "\n" + ended("max_tokens") + "\n" + done))
	f.Fuzz(func(t *testing.T, in []byte) {
		var events bytes.Buffer
		for _, line := range bytes.Split(in, []byte("\n")) {
			events.WriteString("data: " + string(line) + "\n\n")
		}
		r := ask("hi")
		a := newAssembler(r, "", nil)
		stream := sse.NewReader(&events)
		for !a.done {
			e, err := stream.Next()
			if err == nil {
				err = a.event(e.Data)
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
		if body, err := render(r, true); err != nil || !json.Valid(body) {
			t.Fatalf("the reply can't go back: %v\n%s", err, body)
		}
	})
}

// A server that answers with one message although it is asked to stream is told with what helps, whatever content type
// it gives; it is not asked again as if the connection had broken.
func TestAMessageInsteadOfAStream(t *testing.T) {
	const body = `{"id":"m1","type":"message","role":"assistant","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`
	for _, kind := range []string{"application/json", "text/plain", ""} {
		w := &wire{header: http.Header{"Content-Type": {kind}}, body: strings.NewReader(body)}
		_, err := provider(w).Call(context.Background(), modelapi.Request{Model: "m", MaxTokens: 10, Messages: []model.Message{{Role: model.RoleUser, Blocks: []model.Block{{Type: model.BlockText, Text: "x"}}}}}, nil)
		if e, ok := errors.AsType[*modelapi.Error](err); !ok || e.Class != modelapi.ClassProtocol || !strings.Contains(e.Message, "turn streaming on") {
			t.Errorf("%q: %v", kind, err)
		}
	}
}
