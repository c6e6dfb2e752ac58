package connect

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perdure/perdure/internal/meter"
	"github.com/perdure/perdure/internal/test/modeltest"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

const tools = `[ {"name":"Bash", "description":"runs <b> & more","input_schema":{"type":"object","properties":{"b":{"type":"number"}}}},` + "\n" +
	`{"name":"Read","description":"reads","input_schema":{"type":"object"}} ]`

// agent is the smallest loop that talks to a provider as the engine does: it keeps what was sealed, answers every call
// in the next message, and asks again after a failure that may pass.
type agent struct {
	t        *testing.T
	p        modelapi.Provider
	ms       []model.Message
	usage    model.Usage
	lost     int64
	failures []*modelapi.Error
}

func (a *agent) request(step, attempt int) modelapi.Request {
	return modelapi.Request{
		Act: fmt.Sprintf("t1.s%d.b0.a%d", step, attempt), Model: "claude-sonnet-4-5", System: "be \u2028 good",
		Tools: []byte(tools), Messages: a.ms, MaxTokens: 5000, Params: modelapi.Params{Thinking: 2000},
	}
}

// step makes one step and reports whether another follows.
func (a *agent) step(n int) bool {
	a.t.Helper()
	first, err := a.p.Prefix(a.request(n, 1))
	if err != nil {
		a.t.Fatal(err)
	}
	for attempt := 1; attempt < 5; attempt++ {
		r := a.request(n, attempt)
		if again, _ := a.p.Prefix(r); again != first {
			a.t.Fatal("the prefix of a retry differs")
		}
		resp, err := a.p.Call(context.Background(), r, nil)
		if err != nil {
			e, ok := errors.AsType[*modelapi.Error](err)
			if !ok || !e.Retryable() {
				a.t.Fatalf("step %d: %v", n, err)
			}
			a.failures = append(a.failures, e)
			a.lost += e.Usage.Input + e.Usage.CacheRead + e.Usage.CacheWrite
			continue
		}
		meter.Add(&a.usage, resp.Usage)
		return a.seal(resp)
	}
	a.t.Fatalf("step %d never succeeded", n)
	return false
}

func (a *agent) seal(resp *modelapi.Response) bool {
	if resp.Stop == modelapi.StopRefusal {
		return false
	}
	answer := model.Message{Role: model.RoleUser}
	for i, b := range resp.Blocks {
		if b.Tool != nil {
			res := &model.ToolResult{ID: b.Tool.ID, IsError: i%2 == 0}
			if i%2 == 1 {
				res.Content = []model.Part{model.TextPart("done"), {Type: model.BlockImage, Media: "image/png", Data: []byte("png")}}
			}
			answer.Blocks = append(answer.Blocks, model.Block{Type: model.BlockToolResult, Result: res})
		}
	}
	if len(resp.Blocks) > 0 {
		a.ms = append(a.ms, model.Message{Role: model.RoleAssistant, Blocks: resp.Blocks})
	}
	if len(answer.Blocks) == 0 {
		if resp.Stop == modelapi.StopPause {
			return true
		}
		answer.Blocks = []model.Block{{Type: model.BlockText, Text: "go on"}}
	}
	a.ms = append(a.ms, answer)
	return true
}

func (a *agent) say(text string) {
	a.ms = append(a.ms, model.Message{Role: model.RoleUser, Blocks: []model.Block{{Type: model.BlockText, Text: text}}})
}

// steps is a conversation with everything that a reply may hold.
func steps(faults ...modeltest.Fault) []modeltest.Step {
	return []modeltest.Step{
		{
			Thinking: "let me \U0001f600 see <b>", Text: "both \u2028 at once",
			Tools: []modeltest.ToolCall{
				{ID: "call_1", Name: "Bash", InputText: `{"b": 1.0,"a": 12345678901234567890}`},
				{Name: "Read", InputText: "{\"p\":\"\\ud83d\\ude00 \\u00e9\",\n \"n\":1e3}"},
			},
			Faults: faults,
		},
		{SignedOnly: true, Tools: []modeltest.ToolCall{{NoID: true, Name: "Bash"}, {NoID: true, Name: "Read"}}},
		{Text: "  ", Tools: []modeltest.ToolCall{{Name: "Read"}}},
		{Text: "writing", Tools: []modeltest.ToolCall{{Name: "Bash", InputText: `{"command":"very long"}`, Cut: 9}}, StopReason: "max_tokens"},
		{Text: "the end"},
	}
}

// extras are blocks that only one of the APIs has.
func extras(ss []modeltest.Step) []modeltest.Step {
	ss[1].Redacted = "opaque"
	ss[2].Extra = append(ss[2].Extra, []byte(`{"type":"from_tomorrow","z":{"b":1.0,"a":1}}`))
	return append(ss, modeltest.Step{Text: "wait", StopReason: "pause_turn"}, modeltest.Step{Text: "over"})
}

func apis() []string { return []string{modeltest.Anthropic, modeltest.OpenAI} }

// talk runs the whole conversation against a server that enforces the rules of both APIs.
func talk(t *testing.T, api string, ss []modeltest.Step) (*agent, modeltest.ConversationReport) {
	t.Helper()
	srv, err := modeltest.Start(modeltest.Config{
		Script: modeltest.Script{Conversations: []modeltest.Conversation{{First: "hi", Steps: ss}}}, APIKey: "key",
		Sleep: func(context.Context, time.Duration) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	c := Connector{Getenv: env("ANTHROPIC_API_KEY", "key", "ANTHROPIC_BASE_URL", srv.URL(), "OPENAI_API_KEY", "key", "OPENAI_BASE_URL", srv.OpenAIURL())}
	p, _, err := c.Open(map[string]string{modeltest.Anthropic: "anthropic/m", modeltest.OpenAI: "openai/m"}[api])
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{t: t, p: p}
	a.say("hi")
	for n := 1; n <= len(ss); n++ {
		if !a.step(n) {
			break
		}
	}
	// Closing waits for the server's handlers, whose counts are complete then.
	if err := srv.Close(); err != nil {
		t.Fatal(err)
	}
	r := srv.Report()
	for _, v := range r.Violations {
		t.Errorf("refused: %s", v)
	}
	conv, ok := r.Conversation(api, "hi")
	if !ok {
		t.Fatalf("no conversation in %+v", r)
	}
	return a, conv
}

func check(t *testing.T, a *agent, conv modeltest.ConversationReport, n int) {
	t.Helper()
	u := modeltest.Usage{Input: a.usage.Input, Output: a.usage.Output, CacheRead: a.usage.CacheRead, CacheWrite: a.usage.CacheWrite}
	if u != conv.Usage || conv.Sealed != n || conv.ChangedRetries != 0 {
		t.Errorf("usage %+v, the server says %+v; %d sealed of %d; %d changed retries", u, conv.Usage, conv.Sealed, n, conv.ChangedRetries)
	}
}

// A whole conversation passes the strict server on both APIs: pairing and order of results (rules 1 and 5 of exact
// resume), an append-only prefix with thinking verbatim (rule 4), a call cut by max_tokens left out and pause_turn sent
// back as it is (rule 6), ids made where none came, messages merged where a reply was empty (rule 7).
func TestStrictServer(t *testing.T) {
	for _, api := range apis() {
		t.Run(api, func(t *testing.T) {
			ss := steps()
			if api == modeltest.Anthropic {
				ss = extras(ss)
			}
			ss = append(ss, modeltest.Step{})
			a, conv := talk(t, api, ss)
			check(t, a, conv, len(ss))
			if len(a.failures) != 0 {
				t.Errorf("failures: %v", a.failures)
			}
		})
	}
}

// Whatever happens to a stream at whatever frame: the failure has its class, nothing unsealed enters the history, the
// same request goes again (rule 3), and the counts are exact.
func TestEveryFaultAtEveryFrame(t *testing.T) {
	kinds := map[modeltest.FaultKind]string{
		modeltest.FaultDisconnect: "disconnect", modeltest.FaultTruncate: "disconnect protocol",
		modeltest.FaultMalformed: "protocol", modeltest.FaultErrorEvent: "server", modeltest.FaultStatus: "server",
		modeltest.FaultDrip: "",
	}
	for _, api := range apis() {
		for kind, classes := range kinds {
			t.Run(api+"/"+string(kind), func(t *testing.T) {
				for after := 0; ; after++ {
					f := modeltest.Fault{Kind: kind, After: after, Status: 529}
					if kind != modeltest.FaultStatus {
						f.Status = 0
					}
					ss := steps(f)[:2]
					a, conv := talk(t, api, ss)
					check(t, a, conv, len(ss))
					for _, e := range a.failures {
						if !strings.Contains(classes, string(e.Class)) || e.Started != (after > 0) {
							t.Errorf("after %d: class %s, started %v: %v", after, e.Class, e.Started, e)
						}
					}
					if api == modeltest.Anthropic && a.lost != conv.LostInput && len(a.failures) > 0 {
						t.Errorf("after %d: lost %d, the server says %d", after, a.lost, conv.LostInput)
					}
					if kind == modeltest.FaultDrip || kind == modeltest.FaultStatus || len(a.failures) == 0 {
						if kind == modeltest.FaultDrip && len(a.failures) > 0 || kind == modeltest.FaultStatus && len(a.failures) != 1 {
							t.Errorf("failures: %v", a.failures)
						}
						if kind != modeltest.FaultDrip && kind != modeltest.FaultStatus && after < 20 {
							t.Errorf("only %d frames were cut", after)
						}
						return
					}
				}
			})
		}
	}
}

// A provider serves many sessions at once.
func TestTwoAtOnce(t *testing.T) {
	srv, err := modeltest.Start(modeltest.Config{Respond: func(modeltest.ParsedRequest) modeltest.Step { return modeltest.Step{Text: "yes"} }})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	c := Connector{Getenv: env("ANTHROPIC_BASE_URL", srv.URL(), "OPENAI_BASE_URL", srv.OpenAIURL())}
	var wg sync.WaitGroup
	for _, spec := range []string{"anthropic/m", "openai/m"} {
		p, name, err := c.Open(spec)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			wg.Go(func() {
				r := hello(name)
				r.Messages[0].Blocks[0].Text = fmt.Sprint(spec, i)
				resp, err := p.Call(context.Background(), r, nil)
				if err != nil || len(resp.Blocks) != 1 || resp.Blocks[0].Text != "yes" {
					t.Errorf("%s: %+v %v", spec, resp, err)
				}
			})
		}
	}
	wg.Wait()
	if vs := srv.Violations(); len(vs) > 0 {
		t.Errorf("refused: %v", vs)
	}
}
