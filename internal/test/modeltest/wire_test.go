package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// The stream has every event of the API, in its order, and several fragments
// for each kind of content; joined they are the blocks byte for byte.
func TestAnthropicStream(t *testing.T) {
	s := start(t, script(work()))
	r := mustPass(t, s, messagesPath, ask(hi, stream))
	got := assemble(r.body)
	if !got.whole || got.stop != "tool_use" || got.usage != work().Usage {
		t.Errorf("got %+v", got)
	}
	if r.header.Get("request-id") == "" || !strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
		t.Errorf("headers %v", r.header)
	}
	for _, kind := range []string{"thinking_delta", "text_delta", "input_json_delta"} {
		if n := strings.Count(strings.Join(got.kinds, " "), kind); n < 2 {
			t.Errorf("%d fragments of %s", n, kind)
		}
	}
	if !slices.Contains(got.kinds, "content_block_deltasignature_delta") || got.kinds[1] != "ping" {
		t.Errorf("kinds %v", got.kinds)
	}
	blocks := elements([]byte(got.content))
	if len(blocks) != 5 || string(field(blocks[3], "input")) != oddInput || string(field(blocks[4], "input")) != "{}" {
		t.Errorf("content %s", got.content)
	}
	// The same without a stream: the same blocks.
	plain := mustPass(t, s, messagesPath, ask(hi, ""))
	if content := string(field([]byte(plain.body), "content")); content != got.content {
		t.Errorf("without stream\n%s\nwith\n%s", content, got.content)
	}
	if !json.Valid([]byte(plain.body)) || string(field([]byte(plain.body), "stop_reason")) != `"tool_use"` {
		t.Errorf("message %s", plain.body)
	}
}

// Parallel calls come by index, their fragments mixed; the usage chunk is there
// only when it was asked for.
func TestOpenAIStream(t *testing.T) {
	s := start(t, script(work()))
	got := assembleChat(mustPass(t, s, chatPath, chat(hi, chatStream)).body)
	want := Usage{Input: 150, Output: 20, CacheRead: 1000}
	if !got.whole || got.stop != "tool_calls" || got.usage != want {
		t.Errorf("got %+v", got)
	}
	if order := strings.Join(got.kinds, ""); !strings.HasPrefix(order, "0101") {
		t.Errorf("calls are not mixed: %s", order)
	}
	calls := elements(field([]byte(got.message), "tool_calls"))
	if args, _ := stringField(field(calls[0], "function"), "arguments"); args != oddInput {
		t.Errorf("arguments %s", args)
	}
	bare := mustPass(t, s, chatPath, chat(hi, stream)).body
	if strings.Contains(bare, `"usage"`) || !strings.HasSuffix(bare, "data: [DONE]\n\n") {
		t.Errorf("stream without usage:\n%s", bare)
	}
	plain := mustPass(t, s, chatPath, chat(hi, "")).body
	message := field(elements(field([]byte(plain), "choices"))[0], "message")
	if !sameJSON(field(message, "tool_calls"), field([]byte(got.message), "tool_calls")) {
		t.Errorf("without stream %s", plain)
	}
}

// A token count obeys the rules, wants no max_tokens and is no model call.
func TestCountTokens(t *testing.T) {
	s := start(t, script(Step{Text: "one"}))
	body := `{"model":"m","messages":[` + hi + `]}`
	r := mustPass(t, s, "/v1/messages/count_tokens", body)
	var n struct {
		InputTokens int `json:"input_tokens"`
	}
	if err := json.Unmarshal([]byte(r.body), &n); err != nil || n.InputTokens < 1 {
		t.Errorf("count %s %v", r.body, err)
	}
	mustRefuse(t, s, RuleToolResultOrphan, "/v1/messages/count_tokens", ask(user(`[`+result("t", "r")+`]`), ""))
	if rep := s.Report(); rep.Requests != 0 || rep.Counted != 1 || len(rep.Conversations) != 0 {
		t.Errorf("report %+v", rep)
	}
}

func TestModelLists(t *testing.T) {
	cfg := echo()
	cfg.Models = []string{"alpha", "beta"}
	s := start(t, cfg)
	for path, want := range map[string]string{
		"/v1/models": `"id":"beta"`, "/api/tags": `"name":"beta"`, "/api/version": `"version"`, "/": "Ollama is running",
	} {
		resp, err := http.Get(s.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != 200 || !strings.Contains(string(raw), want) {
			t.Errorf("%s: %d %s", path, resp.StatusCode, raw)
		}
	}
	if len(s.Violations()) != 0 {
		t.Error(s.Violations())
	}
}

// The answer is a function of the history: a second attempt, another
// conversation in between, even a new server give the same bytes.
func TestAnswersRepeat(t *testing.T) {
	cfg := script(work())
	cfg.Respond = func(r ParsedRequest) Step { return Step{Text: "you said " + r.Last().Text()} }
	s := start(t, cfg)
	first := assemble(mustPass(t, s, messagesPath, ask(hi, stream)).body)
	mustPass(t, s, messagesPath, ask(user(`"other"`), stream))
	second := assemble(mustPass(t, s, messagesPath, ask(hi, stream)).body)
	third := assemble(mustPass(t, start(t, cfg), messagesPath, ask(hi, stream)).body)
	if first.message != second.message || first.message != third.message {
		t.Errorf("answers differ:\n%s\n%s\n%s", first.message, second.message, third.message)
	}
	// Another prefix gives another signature and other ids.
	elsewhere := assemble(mustPass(t, s, messagesPath, ask(hi, stream+`,"system":"x"`)).body)
	if elsewhere.message == first.message {
		t.Error("the signature does not depend on the prefix")
	}
	if said := assemble(mustPass(t, s, messagesPath, ask(user(`"anyone?"`), stream)).body); !strings.Contains(said.content, "you said anyone?") {
		t.Error(said.content)
	}
}

// Respond sees the results that the newest request brings, on both APIs.
func TestRespondSeesResults(t *testing.T) {
	cfg := Config{Respond: func(r ParsedRequest) Step {
		if r.Step == 0 {
			return Step{Tools: []ToolCall{{ID: "a", Name: "Bash"}, {ID: "b", Name: "Bash"}}}
		}
		var text string
		for _, res := range r.Results() {
			text += res.ID + "=" + res.Text + ";"
		}
		return Step{Text: text}
	}}
	s := start(t, cfg)
	one := assemble(mustPass(t, s, messagesPath, ask(hi, stream)).body)
	two := assemble(mustPass(t, s, messagesPath, ask(hi+","+one.message+","+user("["+result("a", "1")+","+result("b", "2")+"]"), stream)).body)
	if two.content != `[{"type":"text","text":"a=1;b=2;"}]` {
		t.Error(two.content)
	}
	chatOne := assembleChat(mustPass(t, s, chatPath, chat(hi, stream)).body)
	chatTwo := assembleChat(mustPass(t, s, chatPath, chat(hi+","+chatOne.message+","+toolMessage("a", "1")+","+toolMessage("b", "2"), stream)).body)
	if !strings.Contains(chatTwo.message, "a=1;b=2;") {
		t.Error(chatTwo.message)
	}
}
