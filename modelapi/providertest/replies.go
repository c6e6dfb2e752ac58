package providertest

import (
	"bytes"
	"testing"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

const long = "Grüße, 世界 \U0001f600, \"quoted\" <b>&amp;</b>\tand\nlines; as many words as come in several pieces, one after the other, until the end."

// whole: text, thinking, stop reason and usage are those of the API, and the deltas are the text.
func whole(t *testing.T, peer Peer) {
	reply := Reply{Blocks: peer.blocks(thinking("Let me see."), text(long)), Stop: modelapi.StopEndTurn, Usage: model.Usage{Input: 120, Output: 34, CacheRead: 50}}
	p, _ := peer.Start(t, []Reply{reply})
	r, h := ask(t, p, peer.request(user(text("hello"))))
	got := of(r.Blocks, model.BlockText)
	if len(got) != 1 || got[0].Text != long || r.Stop != modelapi.StopEndTurn {
		t.Errorf("%d blocks of text, %s, stop %s", len(got), words(got...), r.Stop)
	}
	if n := len(of(r.Blocks, model.BlockThinking)); n != len(reply.Blocks)-1 {
		t.Errorf("%d blocks of thinking", n)
	}
	if h.text(modelapi.DeltaText) != long {
		t.Errorf("the deltas are %q", h.text(modelapi.DeltaText))
	}
	if !peer.NoThinking && h.text(modelapi.DeltaThinking) != "Let me see." {
		t.Errorf("the deltas of thinking are %q", h.text(modelapi.DeltaThinking))
	}
	if r.Unmetered || r.Usage.Input+r.Usage.CacheRead+r.Usage.CacheWrite != 170 || r.Usage.CacheRead != 50 || r.Usage.Output != 34 {
		t.Errorf("unmetered %t, usage %+v", r.Unmetered, r.Usage)
	}
	if h.late {
		t.Error("a delta came after the call had returned")
	}
	if r, err := p.Call(t.Context(), peer.request(user(text("hello"))), nil); err != nil || r == nil {
		t.Errorf("without a sink: %v", err)
	}
}

// Inputs that are the same values in another spelling are other bytes.
const (
	odd   = `{"path": "a  b",   "n":1.0, "big":12345678901234567890}`
	other = "{\"p\":\"\\u00e9 \\ud83d\\ude00\",\n \"n\":1e3}"
)

// calls: all of them, in order, their ids and inputs byte for byte.
func calls(t *testing.T, peer Peer) {
	p, _ := peer.Start(t, []Reply{{Blocks: []model.Block{text("Both."), call("call_1", "look", odd), call("call_2", "count", other)}, Stop: modelapi.StopToolUse}})
	r, h := ask(t, p, peer.request(user(text("go"))))
	got := of(r.Blocks, model.BlockToolUse)
	if len(got) != 2 || r.Stop != modelapi.StopToolUse {
		t.Fatalf("%d calls, stop %s", len(got), r.Stop)
	}
	for i, want := range []model.ToolUse{{ID: "call_1", Name: "look", Input: []byte(odd)}, {ID: "call_2", Name: "count", Input: []byte(other)}} {
		if u := got[i].Tool; u == nil || u.ID != want.ID || u.Name != want.Name || !bytes.Equal(u.Input, want.Input) {
			t.Errorf("call %d is %s, want %s", i, words(got[i]), called(want))
		}
	}
	if n := len(h.text(modelapi.DeltaTool)); n != len(odd)+len(other) {
		t.Errorf("%d bytes of the inputs came as deltas", n)
	}
}

// back: the next request has the API's own bytes of each block, or at least the very bytes of its text and input, and the
// results by the ids.
func back(t *testing.T, peer Peer) {
	p, sent := peer.Start(t, []Reply{
		{Blocks: peer.blocks(thinking("Hm."), text("One moment."), call("call_1", "look", odd)), Stop: modelapi.StopToolUse},
		{Blocks: []model.Block{text("Done.")}, Stop: modelapi.StopEndTurn},
	})
	first := user(text("go"))
	r, _ := ask(t, p, peer.request(first))
	ask(t, p, peer.request(first, said(r), resultsOf(r, model.TextPart("what was seen"))))
	request := last(t, sent)
	for _, b := range r.Blocks {
		sent := bytes.Contains(request, b.Raw) || b.Type == model.BlockThinking // an API may not want to see that again
		if b.Tool != nil {
			sent = sent || bytes.Contains(request, b.Tool.Input) || bytes.Contains(request, quoted(b.Tool.Input))
		} else {
			sent = sent || bytes.Contains(request, quoted([]byte(b.Text)))
		}
		if !sent {
			t.Errorf("the request has another block (%s) than %s:\n%s", b.Type, b.Raw, request)
		}
	}
	has(t, request, "call_1")
	has(t, request, "what was seen")
}

// cutOff: a call whose input the limit of tokens cut off is left out of the reply, text before it stays.
func cutOff(t *testing.T, peer Peer) {
	p, _ := peer.Start(t, []Reply{{Blocks: []model.Block{text("I write."), call("call_1", "look", `{"path": "a very lo`)}, Stop: modelapi.StopMaxTokens}})
	r, _ := ask(t, p, peer.request(user(text("go"))))
	if r.Stop != modelapi.StopMaxTokens || len(of(r.Blocks, model.BlockToolUse)) != 0 || len(of(r.Blocks, model.BlockText)) != 1 {
		t.Error(replied(r))
	}
}

// missingIDs: calls without an id, and with one that was there already, get ids of their own, which another process makes
// as well: they go by the request's act.
func missingIDs(t *testing.T, peer Peer) {
	if peer.NoMissingIDs {
		return
	}
	reply := []Reply{{Blocks: []model.Block{call("", "look", "{}"), call("", "count", "{}"), call("twice", "look", "{}"), call("twice", "count", "{}")}, Stop: modelapi.StopToolUse}}
	var made [3][]string
	for i, act := range []string{"t1.s1.b0.a1", "t1.s1.b0.a1", "t1.s2.b0.a1"} {
		p, _ := peer.Start(t, reply)
		q := peer.request(user(text("go")))
		q.Act = act
		r, _ := ask(t, p, q)
		seen := map[string]bool{}
		for _, b := range of(r.Blocks, model.BlockToolUse) {
			made[i] = append(made[i], b.Tool.ID)
			if b.Tool.ID == "" || seen[b.Tool.ID] {
				t.Errorf("the ids are %q", made[i])
			}
			seen[b.Tool.ID] = true
		}
		if len(made[i]) != 4 {
			t.Fatalf("%d calls", len(made[i]))
		}
	}
	for k := range made[0] {
		if made[0][k] != made[1][k] {
			t.Errorf("call %d is %q and, for the same act, %q", k, made[0][k], made[1][k])
		}
	}
	if made[0][0] == made[2][0] {
		t.Errorf("two acts have the id %q", made[0][0])
	}
}
