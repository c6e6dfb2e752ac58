package providertest

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// patience is how long anything may take that should come at once.
const patience = 30 * time.Second

const tools = `[{"name":"look","description":"Looks at <this> & that.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}},` +
	`{"name":"count","description":"Counts.","input_schema":{"type":"object"}}]`

// request is a call with these messages.
func (p Peer) request(messages ...model.Message) modelapi.Request {
	return modelapi.Request{Act: "t1.s1.b0.a1", Model: p.Model, System: "You are \"careful\" \u2028 <always>.", Tools: []byte(tools), Messages: messages, MaxTokens: 4096}
}

func text(s string) model.Block { return model.Block{Type: model.BlockText, Text: s} }

func thinking(s string) model.Block { return model.Block{Type: model.BlockThinking, Text: s} }

func call(id, name, input string) model.Block {
	return model.Block{Type: model.BlockToolUse, Tool: &model.ToolUse{ID: id, Name: name, Input: []byte(input)}}
}

func user(blocks ...model.Block) model.Message {
	return model.Message{Role: model.RoleUser, Blocks: blocks}
}

func said(r *modelapi.Response) model.Message {
	return model.Message{Role: model.RoleAssistant, Blocks: r.Blocks}
}

// resultsOf answers every call of a reply.
func resultsOf(r *modelapi.Response, parts ...model.Part) model.Message {
	m := model.Message{Role: model.RoleUser}
	for _, b := range r.Blocks {
		if b.Tool != nil {
			m.Blocks = append(m.Blocks, model.Block{Type: model.BlockToolResult, Result: &model.ToolResult{ID: b.Tool.ID, Content: parts}})
		}
	}
	return m
}

// blocks leaves thinking out for an API that has none.
func (p Peer) blocks(all ...model.Block) (out []model.Block) {
	for _, b := range all {
		if b.Type != model.BlockThinking || !p.NoThinking {
			out = append(out, b)
		}
	}
	return out
}

// heard collects deltas, and notices one that comes after the call.
type heard struct {
	mu    sync.Mutex
	texts map[modelapi.DeltaKind]*strings.Builder
	over  bool
	late  bool
}

func (h *heard) sink(d modelapi.Delta) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.late = h.late || h.over
	if h.texts == nil {
		h.texts = map[modelapi.DeltaKind]*strings.Builder{}
	}
	if h.texts[d.Kind] == nil {
		h.texts[d.Kind] = &strings.Builder{}
	}
	h.texts[d.Kind].WriteString(d.Text)
}

func (h *heard) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
}

func (h *heard) text(k modelapi.DeltaKind) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.texts[k] == nil {
		return ""
	}
	return h.texts[k].String()
}

// ask makes a call that has to succeed.
func ask(t *testing.T, p modelapi.Provider, r modelapi.Request) (*modelapi.Response, *heard) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h := &heard{}
	resp, err := p.Call(ctx, r, h.sink)
	h.end()
	if err != nil || resp == nil {
		t.Fatalf("call: %v", err)
	}
	for i, b := range resp.Blocks {
		if len(b.Raw) == 0 || b.Provider != p.Name() {
			t.Errorf("block %d (%s): %d bytes of the API's own, of provider %q; want some, of %q", i, b.Type, len(b.Raw), b.Provider, p.Name())
		}
	}
	return resp, h
}

// of gives the blocks of a type.
func of(blocks []model.Block, k model.BlockType) (out []model.Block) {
	for _, b := range blocks {
		if b.Type == k {
			out = append(out, b)
		}
	}
	return out
}

// last is the newest request that came.
func last(t *testing.T, sent func() [][]byte) []byte {
	t.Helper()
	all := sent()
	if len(all) == 0 {
		t.Fatal("no request came")
	}
	return all[len(all)-1]
}

// has fails unless a request has a text, as JSON may spell it.
func has(t *testing.T, request []byte, text string) {
	t.Helper()
	if !bytes.Contains(request, []byte(text)) {
		t.Errorf("the request lacks %q:\n%s", text, request)
	}
}

func lacks(t *testing.T, request []byte, text string) {
	t.Helper()
	if bytes.Contains(request, []byte(text)) {
		t.Errorf("the request has %q:\n%s", text, request)
	}
}

// quoted spells bytes as a JSON string.
func quoted(b []byte) []byte {
	out, err := json.Marshal(string(b))
	if err != nil {
		return nil // a string always has a spelling
	}
	return out
}
