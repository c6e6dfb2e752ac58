package providertest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/modelapi/providertest"
)

// plain speaks an API that is nothing but the JSON of these types, to replies in memory. Fault plants a mistake.
type plain struct {
	fault   string
	replies []providertest.Reply

	mu     sync.Mutex
	sent   [][]byte
	serial atomic.Int64
}

type wire struct {
	System   string          `json:"system"`
	Tools    json.RawMessage `json:"tools"`
	Messages [][]wireBlock   `json:"messages"`
	Noise    int64           `json:"noise,omitempty"`
}

type wireBlock struct {
	Text  string `json:"text,omitempty"`
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Input string `json:"input,omitempty"`
	Data  []byte `json:"data,omitempty"`
}

func (p *plain) Name() string { return "plain" }

func (p *plain) encode(r modelapi.Request) []byte {
	w := wire{System: r.System, Tools: r.Tools}
	if p.fault == "noise" {
		w.Noise = p.serial.Add(1)
	}
	for _, m := range r.Messages {
		var blocks []wireBlock
		for _, b := range m.Blocks {
			blocks = append(blocks, p.block(b)...)
		}
		w.Messages = append(w.Messages, blocks)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(true)
	_ = enc.Encode(w) // these types always have a spelling
	return out.Bytes()
}

func (p *plain) block(b model.Block) (out []wireBlock) {
	switch b.Type {
	case model.BlockThinking:
		if b.Provider != p.Name() && p.fault != "thinking" {
			return nil
		}
	case model.BlockToolUse:
		input := string(b.Tool.Input)
		if p.fault == "respells" {
			input = strings.ReplaceAll(input, " ", "")
		}
		return []wireBlock{{ID: b.Tool.ID, Name: b.Tool.Name, Input: input}}
	case model.BlockToolResult:
		out = append(out, wireBlock{ID: b.Result.ID})
		for _, c := range b.Result.Content {
			if c.Type == model.BlockText {
				out = append(out, wireBlock{Text: string(c.Data)})
			} else {
				out = append(out, wireBlock{Data: c.Data})
			}
		}
		return out
	}
	return []wireBlock{{Text: b.Text, Data: b.Data}}
}

func (p *plain) Prefix(r modelapi.Request) ([32]byte, error) {
	if p.fault == "prefix" {
		return sha256.Sum256([]byte(r.System)), nil
	}
	return sha256.Sum256(p.encode(r)), nil
}

func (p *plain) Call(ctx context.Context, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
	reply := p.send(r)
	if reply.Status >= 500 && p.fault == "retries" {
		reply = p.send(r)
	}
	if p.fault == "changes" {
		r.Messages[0].Blocks[0].Text += "!"
	}
	switch {
	case reply.Status > 0:
		return nil, &modelapi.Error{Class: classOf(reply.Status, p.fault), Status: reply.Status, Message: "it failed"}
	case reply.Stall:
		<-ctx.Done()
		return nil, ctx.Err()
	case reply.Break && p.fault != "half":
		return nil, &modelapi.Error{Class: modelapi.ClassDisconnect, Message: "it broke off", Started: true}
	}
	out := &modelapi.Response{Stop: reply.Stop, Usage: reply.Usage}
	seen := map[string]bool{}
	for i, b := range reply.Blocks {
		if b.Tool != nil {
			if reply.Stop == modelapi.StopMaxTokens && p.fault != "cut" {
				continue
			}
			b.Tool = p.called(*b.Tool, r.Act, i, seen)
		}
		b.Provider = p.Name()
		b.Raw = fmt.Append(nil, "raw of ", b.Type, b.Text)
		if b.Tool != nil {
			b.Raw = fmt.Appendf(b.Raw, "%s %s %s", b.Tool.ID, b.Tool.Name, b.Tool.Input)
		}
		out.Blocks = append(out.Blocks, b)
		if sink != nil {
			sink(deltaOf(b))
		}
	}
	return out, nil
}

// called is a call as it is given back.
func (p *plain) called(u model.ToolUse, act string, i int, seen map[string]bool) *model.ToolUse {
	if (u.ID == "" || seen[u.ID]) && p.fault != "ids" {
		u.ID = fmt.Sprintf("%s.%d", act, i)
		if p.fault == "random ids" {
			u.ID += fmt.Sprintf("%p", p)
		}
	}
	seen[u.ID] = true
	return &u
}

func deltaOf(b model.Block) modelapi.Delta {
	switch {
	case b.Tool != nil:
		return modelapi.Delta{Kind: modelapi.DeltaTool, Text: string(b.Tool.Input)}
	case b.Type == model.BlockThinking:
		return modelapi.Delta{Kind: modelapi.DeltaThinking, Text: b.Text}
	}
	return modelapi.Delta{Kind: modelapi.DeltaText, Text: b.Text}
}

func classOf(status int, fault string) modelapi.Class {
	switch {
	case fault == "classes", status == 400:
		return modelapi.ClassInvalid
	case status == 401, status == 403:
		return modelapi.ClassAuth
	case status == 404:
		return modelapi.ClassNotFound
	case status == 429:
		return modelapi.ClassRateLimit
	}
	return modelapi.ClassServer
}

func (p *plain) send(r modelapi.Request) providertest.Reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	reply := p.replies[min(len(p.sent), len(p.replies)-1)]
	p.sent = append(p.sent, p.encode(r))
	return reply
}

func (p *plain) requests() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([][]byte{}, p.sent...)
}

const planted = "PERDURE_TEST_PROVIDER_FAULT"

// Goal: the suite passes the least provider that keeps the contract.
func TestPlainProvider(t *testing.T) {
	providertest.Run(t, providertest.Peer{Model: "m", Start: func(_ *testing.T, replies []providertest.Reply) (modelapi.Provider, func() [][]byte) {
		p := &plain{fault: os.Getenv(planted), replies: replies}
		return p, p.requests
	}})
}

// numbers are bytes as fmt shows them.
var numbers = regexp.MustCompile(`\[\d+( \d+){3,}`)

// Goal: each broken duty is found, and named, in words that a person can read.
func TestFaultsAreFound(t *testing.T) {
	for fault, by := range map[string]string{
		"noise": "the_same_request_is_the_same_bytes", "thinking": "replies_of_others_are_told_by_their_thin_view", "respells": "a_reply_goes_back_as_it_came",
		"prefix": "the_prefix_is_that_of_what_is_sent", "retries": "a_call_is_made_once", "changes": "a_request_is_not_changed",
		"half": "a_reply_that_breaks_off_is_a_failure", "cut": "a_call_that_was_cut_off_is_none", "ids": "ids_are_made_where_they_are_missing",
		"random ids": "ids_are_made_where_they_are_missing", "classes": "failures_have_their_class",
	} {
		t.Run(fault, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestPlainProvider$")
			cmd.Env = append(os.Environ(), planted+"="+fault)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "FAIL: TestPlainProvider/"+by) {
				t.Errorf("%v: not found by %s:\n%s", err, by, out)
			}
			if n := numbers.Find(out); n != nil {
				t.Errorf("it shows bytes as numbers, %s:\n%s", n, out)
			}
		})
	}
}
