package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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

// fakeModel answers by the number of replies in the conversation, so that a repeated request gets the same answer.
type fakeModel struct{ steps [][]model.Block }

func (fakeModel) Name() string { return "fake" }

func (fakeModel) Prefix(r modelapi.Request) ([32]byte, error) {
	b, err := json.Marshal(r.Messages)
	return store.Sum(b), err
}

func (m fakeModel) Call(_ context.Context, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
	n := 0
	for _, msg := range r.Messages {
		if msg.Role == model.RoleAssistant {
			n++
		}
	}
	sink(modelapi.Delta{Kind: modelapi.DeltaStart, Usage: model.Usage{Input: 10}})
	if n >= len(m.steps) {
		return nil, &modelapi.Error{Class: modelapi.ClassInvalid, Message: "script is over"}
	}
	stop := modelapi.StopEndTurn
	for _, b := range m.steps[n] {
		if b.Tool != nil {
			stop = modelapi.StopToolUse
		}
	}
	return &modelapi.Response{Model: "fake", Blocks: m.steps[n], Stop: stop, Usage: model.Usage{Input: 10, Output: 5}}, nil
}

func text(s string) model.Block {
	return model.Block{Type: model.BlockText, Text: s, Raw: fmt.Appendf(nil, `{"type":"text","text":%q}`, s)}
}

func use(id, name, input string) model.Block {
	return model.Block{Type: model.BlockToolUse, Raw: []byte(input), Tool: &model.ToolUse{ID: id, Name: name, Input: []byte(input)}}
}

// memFiles is a filesystem in memory.
type memFiles struct {
	mu   sync.Mutex
	m    map[string][]byte
	fail func() error // if set, what a write does instead
}

func (f *memFiles) Resolve(p string) (string, error) { return p, nil }

func (f *memFiles) Read(p string, _ int64) ([]byte, tools.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, ok := f.m[p]
	if !ok {
		return nil, tools.FileInfo{}, fs.ErrNotExist
	}
	return b, tools.FileInfo{Exists: true, Size: int64(len(b)), Mode: 0o644}, nil
}

func (f *memFiles) Digest(p string) (store.Digest, tools.FileInfo, error) {
	b, info, err := f.Read(p, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return store.Digest{}, info, nil
	}
	return store.Sum(b), info, err
}

func (f *memFiles) Replace(e session.Edit, content []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return f.fail()
	}
	f.m[e.Path] = content
	return nil
}

// A turn with a file write and a plan runs to its end; its log verifies and folds to the same state.
func TestTurn(t *testing.T) {
	ctx := t.Context()
	st := new(memory.Home).Open()
	files := &memFiles{m: map[string][]byte{}}
	m := fakeModel{steps: [][]model.Block{
		{text("working"), use("a", "Write", `{"file_path":"/w/x.txt","content":"hello"}`), use("b", "TodoWrite", `{"todos":[{"content":"c","status":"in_progress","activeForm":"d"}]}`)},
		{text("done")},
	}}
	e, err := engine.New(engine.Config{
		Store: st, Files: files, Tools: tools.Builtin(),
		Provider: func(string) (modelapi.Provider, error) { return m, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	id, err := e.Create(ctx, engine.Spec{Cwd: "/w", Mode: permission.ModeAcceptEdits, Agent: session.Agent{Provider: "fake", Model: "m", MaxTokens: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	item, err := e.NewItem("k1", store.Actor{Type: store.ActorUser}, &session.MessageReceived{Content: []model.Part{model.TextPart("go")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Send(ctx, id, item); err != nil {
		t.Fatal(err)
	}
	s, err := e.Open(ctx, id, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	got := s.State()
	if got.LastTurn == nil || got.LastTurn.Stop != session.TurnEndTurn || len(got.Plan) != 1 || string(files.m["/w/x.txt"]) != "hello" {
		t.Fatalf("turn %+v plan %v files %v faults %v", got.LastTurn, got.Plan, files.m, got.Faults)
	}
	if err := s.Close(ctx, "done"); err != nil {
		t.Fatal(err)
	}
	again, err := e.Load(ctx, id)
	if err != nil || again.Head != got.Head || len(again.Faults) > 0 {
		t.Fatalf("load: %v %+v %+v", err, again.Head, again.Faults)
	}
}
