package providertest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// history is a conversation with everything that a request may hold.
func history() []model.Message {
	return []model.Message{
		user(text("hello"), model.Block{Type: model.BlockImage, Media: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}),
		{Role: model.RoleAssistant, Blocks: []model.Block{
			{Type: model.BlockThinking, Provider: "somebody", Raw: []byte(`{"marker":"raw-of-another"}`), Text: "secret thoughts"},
			{Type: model.BlockText, Provider: "somebody", Raw: []byte(`{"marker":"raw-of-another"}`), Text: "words of another"},
			{Type: model.BlockToolUse, Provider: "somebody", Raw: []byte(`{"marker":"raw-of-another"}`), Tool: &model.ToolUse{ID: "foreign_1", Name: "look", Input: []byte(`{"path":"x"}`)}},
		}},
		user(model.Block{Type: model.BlockToolResult, Result: &model.ToolResult{ID: "foreign_1", Content: []model.Part{model.TextPart("seen")}}}, text("and now?")),
	}
}

// sameBytes: two processes send the same bytes for the same request, whatever was asked before.
func sameBytes(t *testing.T, peer Peer) {
	reply := []Reply{{Blocks: []model.Block{text("ok")}, Stop: modelapi.StopEndTurn}}
	var got [2][]byte
	for i := range got {
		p, sent := peer.Start(t, reply)
		for range i { // the second process is not fresh
			ask(t, p, peer.request(user(text("something else"))))
		}
		ask(t, p, peer.request(history()...))
		got[i] = last(t, sent)
	}
	if !bytes.Equal(got[0], got[1]) {
		t.Errorf("two processes sent\n%s\n%s", got[0], got[1])
	}
}

// prefix: it is the same for the same, in every process and at every attempt, and another one for anything else.
func prefix(t *testing.T, peer Peer) {
	p, _ := peer.Start(t, nil)
	other, _ := peer.Start(t, nil)
	q := peer.request(history()...)
	want, err := p.Prefix(q)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := other.Prefix(q); got != want || err != nil {
		t.Errorf("another process has another prefix: %v", err)
	}
	q.Act = "t1.s1.b0.a2"
	if got, err := p.Prefix(q); got != want || err != nil {
		t.Errorf("another attempt has another prefix: %v", err)
	}
	for name, change := range map[string]func(*modelapi.Request){
		"system":   func(r *modelapi.Request) { r.System += "." },
		"tools":    func(r *modelapi.Request) { r.Tools = bytes.Replace(r.Tools, []byte("Counts."), []byte("Counts!"), 1) },
		"messages": func(r *modelapi.Request) { r.Messages = append(history(), user(text("more"))) },
		"a result": func(r *modelapi.Request) {
			r.Messages = history()
			r.Messages[2].Blocks[0].Result.Content[0] = model.TextPart("not seen")
		},
	} {
		r := peer.request(history()...)
		change(&r)
		if got, err := p.Prefix(r); got == want || err != nil {
			t.Errorf("with another %s the prefix is the same: %v", name, err)
		}
	}
}

// unchanged: nothing of a request is changed by a call or by Prefix.
func unchanged(t *testing.T, peer Peer) {
	p, _ := peer.Start(t, []Reply{{Blocks: []model.Block{text("ok")}, Stop: modelapi.StopEndTurn}})
	q := peer.request(history()...)
	before := deep(t, q)
	if _, err := p.Prefix(q); err != nil {
		t.Fatal(err)
	}
	ask(t, p, q)
	if after := deep(t, q); !reflect.DeepEqual(before, after) {
		t.Errorf("the request became\n%s\nfrom\n%s", after, before)
	}
}

// deep is all that a request holds.
func deep(t *testing.T, r modelapi.Request) string {
	t.Helper()
	parts := [][]byte{}
	for _, m := range r.Messages {
		for _, b := range m.Blocks {
			if b.Result != nil {
				for _, c := range b.Result.Content {
					parts = append(parts, c.Data)
				}
			}
		}
	}
	out, err := json.Marshal([]any{r, parts})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// foreign: of another provider's reply the words and calls are sent, not its own bytes and not its thinking.
func foreign(t *testing.T, peer Peer) {
	p, sent := peer.Start(t, []Reply{{Blocks: []model.Block{text("ok")}, Stop: modelapi.StopEndTurn}})
	ask(t, p, peer.request(history()...))
	request := last(t, sent)
	for _, want := range []string{"hello", "words of another", "foreign_1", "look", "seen", "and now?", "Counts."} {
		has(t, request, want)
	}
	for _, not := range []string{"raw-of-another", "secret thoughts"} {
		lacks(t, request, not)
	}
}

// results: a call's result may be an error, empty, and hold an image.
func results(t *testing.T, peer Peer) {
	p, sent := peer.Start(t, []Reply{
		{Blocks: []model.Block{call("call_1", "look", "{}"), call("call_2", "look", "{}"), call("call_3", "count", "{}")}, Stop: modelapi.StopToolUse},
		{Blocks: []model.Block{text("ok")}, Stop: modelapi.StopEndTurn},
	})
	r, _ := ask(t, p, peer.request(user(text("go"))))
	answers := resultsOf(r)
	if len(answers.Blocks) != 3 {
		t.Fatalf("%d calls", len(answers.Blocks))
	}
	answers.Blocks[0].Result.IsError = true
	answers.Blocks[0].Result.Content = []model.Part{model.TextPart("no such file")}
	answers.Blocks[1].Result.Content = []model.Part{model.TextPart("a picture"), {Type: model.BlockImage, Media: "image/png", Data: []byte("\x89PNG")}}
	ask(t, p, peer.request(user(text("go")), said(r), answers))
	for _, want := range []string{"no such file", "a picture", "call_3", "iVBORw"} { // the image in base64
		has(t, last(t, sent), want)
	}
}
