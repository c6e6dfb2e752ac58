package modeltest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	ServeIfAsked()
	os.Exit(m.Run())
}

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// script is a Config with one conversation, "hi".
func script(steps ...Step) Config {
	return Config{Script: Script{Conversations: []Conversation{{First: "hi", Steps: steps}}}}
}

// echo answers everything, whatever the history is.
func echo() Config {
	return Config{AllowForeignHistory: true, Respond: func(ParsedRequest) Step { return Step{Text: "ok"} }}
}

const (
	messagesPath = "/v1/messages"
	chatPath     = "/v1/chat/completions"
)

// A reply is a whole response, or as much of it as came.
type reply struct {
	status int
	rule   string
	header http.Header
	body   string
	err    error // of reading the body
}

func send(ctx context.Context, base, path, body string, headers ...string) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("anthropic-version", versionOld)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header.Get("X-Modeltest-Rule"), resp.Header, string(raw), err}, nil
}

func post(t *testing.T, s *Server, path, body string, headers ...string) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := send(ctx, s.URL(), path, body, headers...)
	if err != nil {
		t.Fatalf("post %s: %v", path, err)
	}
	return r
}

// ask is a Messages request; extra are further members, with a leading comma.
func ask(messages, extra string) string {
	return `{"model":"m","max_tokens":4096,"messages":[` + messages + `]` + extra + `}`
}

// chat is a Chat Completions request.
func chat(messages, extra string) string {
	return `{"model":"m","messages":[` + messages + `]` + extra + `}`
}

func user(content string) string { return `{"role":"user","content":` + content + `}` }

func assistant(content string) string { return `{"role":"assistant","content":` + content + `}` }

const hi = `{"role":"user","content":[{"type":"text","text":"hi"}]}`

// mustPass and mustRefuse are the two halves of every rule's test.
func mustPass(t *testing.T, s *Server, path, body string, headers ...string) reply {
	t.Helper()
	before := len(s.Violations())
	r := post(t, s, path, body, headers...)
	if r.status != 200 || len(s.Violations()) != before {
		t.Fatalf("lawful request got %d %s\n%s\n%s", r.status, r.rule, r.body, body)
	}
	return r
}

func mustRefuse(t *testing.T, s *Server, rule Rule, path, body string, headers ...string) {
	t.Helper()
	before := len(s.Violations())
	r := post(t, s, path, body, headers...)
	status := 400
	switch rule {
	case RuleAuth:
		status = 401
	case RulePath:
		status = 404
	}
	if r.status != status || r.rule != string(rule) {
		t.Fatalf("got %d and rule %q, want %d %q\n%s\n%s", r.status, r.rule, status, rule, r.body, body)
	}
	if !strings.Contains(r.body, "rule "+string(rule)) {
		t.Errorf("the message does not name the rule: %s", r.body)
	}
	var env struct {
		Type  string
		Error struct{ Type, Message string }
	}
	if err := json.Unmarshal([]byte(r.body), &env); err != nil || env.Error.Message == "" || env.Error.Type == "" {
		t.Errorf("no error envelope: %v %s", err, r.body)
	}
	if strings.HasPrefix(path, "/v1/messages") && env.Type != "error" {
		t.Errorf("no Anthropic envelope: %s", r.body)
	}
	vs := s.Violations()
	if len(vs) != before+1 || vs[before].Rule != rule {
		t.Errorf("violations %v, want one more: %s", vs, rule)
	}
}

// A sse is one event of a stream.
type sse struct{ event, data string }

func events(stream string) []sse {
	var out []sse
	var cur sse
	sc := bufio.NewScanner(strings.NewReader(stream))
	for sc.Scan() {
		line := sc.Text()
		switch {
		case line == "":
			if cur.data != "" {
				out = append(out, cur)
			}
			cur = sse{}
		case strings.HasPrefix(line, "event: "):
			cur.event = line[7:]
		case strings.HasPrefix(line, "data: "):
			cur.data += line[6:]
		}
	}
	return out
}

// A sealed is an answer as an independent client assembles it.
type sealed struct {
	content string // the assistant message's content, raw
	message string // the whole assistant message, raw
	stop    string
	usage   Usage
	whole   bool
	kinds   []string // event or delta types in order
}

// assemble reads an Anthropic stream the way a client must.
func assemble(stream string) sealed {
	var out sealed
	var blocks []string
	var kind, text, sig, head string
	for _, e := range events(stream) {
		var d struct {
			Type    string
			Message struct {
				Usage struct {
					Input int64 `json:"input_tokens"`
					Read  int64 `json:"cache_read_input_tokens"`
					Write int64 `json:"cache_creation_input_tokens"`
				}
			}
			ContentBlock json.RawMessage `json:"content_block"`
			Delta        struct {
				Type, Text, Thinking, Signature string
				PartialJSON                     string `json:"partial_json"`
				StopReason                      string `json:"stop_reason"`
			}
			Usage struct {
				Output int64 `json:"output_tokens"`
			}
		}
		if json.Unmarshal([]byte(e.data), &d) != nil || d.Type != e.event {
			return out
		}
		out.kinds = append(out.kinds, d.Type+d.Delta.Type)
		switch d.Type {
		case "message_start":
			u := d.Message.Usage
			out.usage = Usage{Input: u.Input, CacheRead: u.Read, CacheWrite: u.Write}
		case "content_block_start":
			head, text, sig = string(d.ContentBlock), "", ""
			kind, _ = stringField(d.ContentBlock, "type")
		case "content_block_delta":
			text += d.Delta.Text + d.Delta.Thinking + d.Delta.PartialJSON
			sig += d.Delta.Signature
		case "content_block_stop":
			blocks = append(blocks, assembled(kind, head, text, sig))
		case "message_delta":
			out.stop, out.usage.Output = d.Delta.StopReason, d.Usage.Output
		case "message_stop":
			out.whole = true
		}
	}
	out.content = "[" + strings.Join(blocks, ",") + "]"
	out.message = assistant(out.content)
	return out
}

func assembled(kind, head, text, sig string) string {
	switch kind {
	case "text":
		return fmt.Sprintf(`{"type":"text","text":%s}`, quote(text))
	case "thinking":
		return fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":%s}`, quote(text), quote(sig))
	case "tool_use":
		if text == "" {
			text = "{}"
		}
		id, _ := stringField([]byte(head), "id")
		name, _ := stringField([]byte(head), "name")
		return fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, quote(id), quote(name), text)
	}
	return head
}

// assembleChat reads a Chat Completions stream the way a client must.
func assembleChat(stream string) sealed {
	type fn struct{ Name, Arguments string }
	type call struct {
		Index    int
		ID, Type string
		Function fn
	}
	var out sealed
	var text string
	var calls []call
	for _, e := range events(stream) {
		if e.data == "[DONE]" {
			out.whole = true
			break
		}
		var d struct {
			Choices []struct {
				Delta struct {
					Content string
					Calls   []call `json:"tool_calls"`
				}
				Finish string `json:"finish_reason"`
			}
			Usage struct {
				Prompt     int64 `json:"prompt_tokens"`
				Completion int64 `json:"completion_tokens"`
				Details    struct {
					Cached int64 `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			}
		}
		if json.Unmarshal([]byte(e.data), &d) != nil {
			return out
		}
		if u := d.Usage; u.Prompt > 0 {
			out.usage = Usage{Input: u.Prompt - u.Details.Cached, Output: u.Completion, CacheRead: u.Details.Cached}
		}
		for _, c := range d.Choices {
			text += c.Delta.Content
			if c.Finish != "" {
				out.stop = c.Finish
			}
			for _, tc := range c.Delta.Calls {
				out.kinds = append(out.kinds, fmt.Sprint(tc.Index))
				if tc.Index == len(calls) {
					calls = append(calls, call{})
				}
				calls[tc.Index].ID += tc.ID
				calls[tc.Index].Function.Name += tc.Function.Name
				calls[tc.Index].Function.Arguments += tc.Function.Arguments
			}
		}
	}
	content, list := "null", ""
	if text != "" {
		content = string(quote(text))
	}
	for i, c := range calls {
		if i > 0 {
			list += ","
		}
		list += chatCall(c.ID, c.Function.Name, c.Function.Arguments)
	}
	if list != "" {
		list = `,"tool_calls":[` + list + `]`
	}
	out.message = `{"role":"assistant","content":` + content + list + `}`
	return out
}

func chatCall(id, name, args string) string {
	return fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, quote(id), quote(name), quote(args))
}

func toolMessage(id, text string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%s,"content":%s}`, quote(id), quote(text))
}

func result(id, text string) string {
	return fmt.Sprintf(`{"type":"tool_result","tool_use_id":%s,"content":%s}`, quote(id), quote(text))
}
