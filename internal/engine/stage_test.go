package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/perdure/perdure/internal/engine"
	"github.com/perdure/perdure/internal/memory"
	"github.com/perdure/perdure/internal/permission"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/tools"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// stage is the world of one test. What is on it outlives the processes that open it.
type stage struct {
	t     *testing.T
	home  memory.Home
	files *memFiles
	tools []tools.Tool
	// answer is the model: it is told how many replies the conversation holds.
	answer func(ctx context.Context, replies int, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error)
	config func(*engine.Config)
	spec   func(*engine.Spec)

	mu       sync.Mutex
	requests []modelapi.Request
}

func newStage(t *testing.T, replies ...*modelapi.Response) *stage {
	s := &stage{t: t, files: &memFiles{m: map[string][]byte{}}, tools: tools.Builtin()}
	s.answer = func(_ context.Context, n int, _ modelapi.Request, _ func(modelapi.Delta)) (*modelapi.Response, error) {
		if n >= len(replies) {
			return nil, &modelapi.Error{Class: modelapi.ClassInvalid, Status: 400, Message: "the script is over"}
		}
		return replies[n], nil
	}
	return s
}

func (*stage) Name() string { return "stage" }

func (*stage) Prefix(r modelapi.Request) ([32]byte, error) {
	return store.Sum(fmt.Appendf(nil, "%s %s %s", r.System, r.Tools, render(r.Messages))), nil
}

func (s *stage) Call(ctx context.Context, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	if why := unpaired(r.Messages); why != "" {
		s.t.Errorf("request %s: %s\n%s", r.Act, why, render(r.Messages))
	}
	n := 0
	for _, m := range r.Messages {
		if m.Role == model.RoleAssistant {
			n++
		}
	}
	return s.answer(ctx, n, r, sink)
}

// last is the newest request.
func (s *stage) last() modelapi.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[len(s.requests)-1]
}

// process is one life: an engine on a store of its own.
type process struct {
	*engine.Engine
	store *memory.Store
	t     *testing.T
}

func (s *stage) process() process {
	s.t.Helper()
	st := s.home.Open()
	cfg := engine.Config{
		Store: st, Files: s.files, Tools: s.tools, Host: "h", BootID: "b",
		Provider: func(string) (modelapi.Provider, error) { return s, nil }, Jitter: func() float64 { return 0 },
	}
	if s.config != nil {
		s.config(&cfg)
	}
	e, err := engine.New(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	return process{Engine: e, store: st, t: s.t}
}

// start makes session s, with a first prompt in its inbox, and opens it.
func (s *stage) start(prompt string) (process, *engine.Session) {
	s.t.Helper()
	p := s.process()
	spec := engine.Spec{
		ID: "s", Cwd: "/w", Mode: permission.ModeAcceptEdits,
		Agent: session.Agent{Provider: "stage", Model: "m", System: "sys", MaxTokens: 1000},
	}
	if s.spec != nil {
		s.spec(&spec)
	}
	if _, err := p.Create(s.t.Context(), spec); err != nil {
		s.t.Fatal(err)
	}
	p.say(prompt)
	return p, p.open(engine.Options{})
}

func (p process) open(opt engine.Options) *engine.Session {
	p.t.Helper()
	s, err := p.Open(p.t.Context(), "s", opt)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// say puts a prompt into the inbox.
func (p process) say(prompt string) {
	p.t.Helper()
	p.send(prompt, &session.MessageReceived{Content: []model.Part{model.TextPart(prompt)}})
}

func (p process) send(key string, body session.Body) {
	p.t.Helper()
	item, err := p.NewItem(key, store.Actor{Type: store.ActorUser}, body)
	if err == nil {
		_, err = p.store.Send(context.Background(), "s", item)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// run runs a session until it rests, which it must.
func run(t *testing.T, s *engine.Session) *session.State {
	t.Helper()
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if faults := s.State().Faults; len(faults) > 0 {
		t.Fatalf("faults: %q", faults)
	}
	return s.State()
}

// die kills a process whose session runs, and waits for what is left of it to notice.
func die(p process, stop context.CancelFunc, over <-chan error) {
	p.store.Kill()
	stop()
	<-over
}

// background runs a session beside the test.
func background(t *testing.T, s *engine.Session) (stop context.CancelFunc, over <-chan error) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		err := s.Run(ctx)
		if errors.Is(err, engine.ErrParked) || err != nil {
			_ = s.Close(ctx, "gone") // of a dead process: it can do nothing
		}
		done <- err
	}()
	return cancel, done
}

func reply(stop modelapi.StopReason, blocks ...model.Block) *modelapi.Response {
	return &modelapi.Response{Model: "m", Blocks: blocks, Stop: stop, Usage: model.Usage{Input: 10, Output: 5}}
}

func thinking(s string) model.Block {
	return model.Block{Type: model.BlockThinking, Raw: fmt.Appendf(nil, `{"type":"thinking",  "thinking":%q,"signature":"a+/="}`, s)}
}

// render writes messages out, every byte of them.
func render(ms []model.Message) string {
	var out strings.Builder
	for _, m := range ms {
		out.WriteString("\n== " + string(m.Role))
		for _, b := range m.Blocks {
			out.WriteString("\n" + string(b.Type) + " " + string(b.Raw) + b.Text)
			if b.Tool != nil {
				out.WriteString(" " + b.Tool.ID + " " + b.Tool.Name + " " + string(b.Tool.Input))
			}
			if b.Result != nil {
				fmt.Fprintf(&out, " %s error=%v %s", b.Result.ID, b.Result.IsError, model.Text(b.Result.Content))
			}
		}
	}
	return out.String()
}

// unpaired tells how messages break the rules of pairing and of roles; empty if they keep them.
func unpaired(ms []model.Message) string {
	var open []string
	for i, m := range ms {
		want := model.RoleUser
		if i%2 == 1 {
			want = model.RoleAssistant
		}
		if m.Role != want || len(m.Blocks) == 0 {
			return fmt.Sprintf("message %d is of %s and has %d blocks", i, m.Role, len(m.Blocks))
		}
		var results []string
		others := false
		for _, b := range m.Blocks {
			if b.Result != nil && others {
				return fmt.Sprintf("message %d has a result after other content", i)
			}
			if b.Result != nil {
				results = append(results, b.Result.ID)
			}
			others = others || b.Result == nil
		}
		if fmt.Sprint(results) != fmt.Sprint(open) {
			return fmt.Sprintf("message %d answers %v, open are %v", i, results, open)
		}
		open = nil
		for _, b := range m.Blocks {
			if b.Tool != nil {
				open = append(open, b.Tool.ID)
			}
		}
	}
	return ""
}

// outside is a tool with an effect outside, under the test's control.
type outside struct {
	spec  tools.Spec
	count *int
	run   func(ctx context.Context) (tools.Result, error)
}

func (o outside) Spec() tools.Spec { return o.spec }

func (o outside) Run(ctx context.Context, _ tools.Call, _ tools.Env) (tools.Result, error) {
	*o.count++
	return o.run(ctx)
}

func newOutside(name string, idempotent bool, count *int, run func(ctx context.Context) (tools.Result, error)) outside {
	return outside{
		spec:  tools.Spec{Name: name, Schema: `{"type":"object"}`, Effect: session.EffectExternal, Idempotent: idempotent},
		count: count, run: run,
	}
}
