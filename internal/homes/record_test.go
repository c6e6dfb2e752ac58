package homes_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/perdure/perdure/internal/homes"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

func says(text string) *modelapi.Response {
	return &modelapi.Response{
		Model: "m9", Stop: modelapi.StopEndTurn, Usage: model.Usage{Input: 7, Output: 3},
		Blocks: []model.Block{{Type: model.BlockText, Text: text}},
	}
}

func must(t *testing.T) func(store.Head, error) store.Head {
	return func(h store.Head, err error) store.Head {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
}

// The conversation of an agent of one's own is kept as it was, in the right order, and goes on under this module's loop.
func TestRecorder(t *testing.T) {
	h, s, _ := held(t, homes.HoldOptions{})
	id := s.ID()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := h.Record(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	ok := must(t)
	for name, bad := range map[string]func() (store.Head, error){
		"a reply to nothing":  func() (store.Head, error) { return r.Assistant(t.Context(), "mine", says("hm")) },
		"a result of nothing": func() (store.Head, error) { return r.ToolResult(t.Context(), "x", false) },
		"a blank message":     func() (store.Head, error) { return r.User(t.Context(), model.TextPart(" ")) },
	} {
		if _, err := bad(); !errors.Is(err, session.ErrUnfit) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ok(r.User(t.Context(), model.TextPart("what is in a.txt and b.txt?")))
	if _, err := r.User(t.Context(), model.TextPart("well?")); !errors.Is(err, session.ErrUnfit) {
		t.Errorf("two messages in a row: %v", err)
	}
	raw := []byte(`{"type":"tool_use",  "id":"c1","name":"cat","input":{"f": "a.txt"},"later":1}`)
	ok(r.Assistant(t.Context(), "mine", &modelapi.Response{Model: "m9", Stop: modelapi.StopToolUse, Blocks: []model.Block{
		{Type: model.BlockText, Text: "I look."},
		{Type: model.BlockToolUse, Raw: raw, Tool: &model.ToolUse{ID: "c1", Name: "cat", Input: json.RawMessage(`{"f": "a.txt"}`)}},
		{Type: model.BlockToolUse, Tool: &model.ToolUse{ID: "c2", Name: "cat", Input: json.RawMessage(`{"f":"b.txt"}`)}},
	}}))
	at := ok(r.ToolResult(t.Context(), "c2", true, model.TextPart("no such file")))
	if _, err := r.Assistant(t.Context(), "mine", says("done")); !errors.Is(err, session.ErrUnfit) || !strings.Contains(err.Error(), "c1") {
		t.Errorf("a reply before all results: %v", err)
	}
	if _, err := r.ToolResult(t.Context(), "c2", false); !errors.Is(err, session.ErrUnfit) {
		t.Errorf("a second result: %v", err)
	}
	ok(r.ToolResult(t.Context(), "c1", false, model.TextPart("hello")))
	ok(r.Append(t.Context(), store.Actor{Type: store.ActorModel}, &session.StateSet{Key: "k", Value: []byte("1")}))
	head := ok(r.Assistant(t.Context(), "mine", says("a.txt says hello.")))
	if got := r.State(); got.Head != head || len(got.Faults) > 0 || got.Usage[0].Usage.Input != 7 {
		t.Errorf("state %+v", got.Usage)
	}
	before, err := r.Messages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	want := "user: what is in a.txt and b.txt?|assistant: I look. c1 c2|user: c1=hello c2=no such file!|assistant: a.txt says hello."
	if got := talk(before); got != want {
		t.Errorf("the conversation:\n%s\nwant\n%s", got, want)
	}
	if string(before[1].Blocks[1].Raw) != string(raw) {
		t.Errorf("the provider's bytes became %s", before[1].Blocks[1].Raw)
	}
	child, forkedAt, err := h.Fork(t.Context(), id, at.Seq, "", "")
	if err != nil || forkedAt != at.Seq {
		t.Errorf("fork at %d, %v", forkedAt, err)
	}
	if _, err := h.State(t.Context(), child); err != nil {
		t.Error(err)
	}
	res, err := h.Run(t.Context(), id, homes.RunOptions{Prompt: "thanks"})
	if err != nil || res.Turn != 2 || res.Result != "thanks" {
		t.Errorf("went on as %+v, %v", res, err)
	}
	if faults, err := h.Verify(t.Context(), id); err != nil || len(faults) > 0 {
		t.Errorf("verify: %q, %v", faults, err)
	}
	for _, id := range []string{"", "made-here"} {
		r, err := h.Record(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if id != "" && r.ID() != id || r.ID() == "" {
			t.Errorf("%q became %q", id, r.ID())
		}
		ok(r.User(t.Context(), homes.Text("hello")))
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := h.Record(t.Context(), "../out"); !errors.Is(err, store.ErrBadID) {
		t.Errorf("a bad id: %v", err)
	}
}

// talk writes a conversation on one line.
func talk(ms []model.Message) string {
	var out []string
	for _, m := range ms {
		line := string(m.Role) + ":"
		for _, b := range m.Blocks {
			switch {
			case b.Result != nil:
				line += " " + b.Result.ID + "=" + model.Text(b.Result.Content)
				if b.Result.IsError {
					line += "!"
				}
			case b.Tool != nil:
				line += " " + b.Tool.ID
			default:
				line += " " + b.Text
			}
		}
		out = append(out, line)
	}
	return strings.Join(out, "|")
}
