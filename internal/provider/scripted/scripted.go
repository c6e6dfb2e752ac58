// Package scripted is a model that plays a file: the demo's and the tests' model. It thinks nothing, needs no key and
// no network, and says so: its provider and its responses' Model are named "scripted".
//
// The answer depends on the conversation alone, never on how often it was asked: a call that is made again after a
// crash gets the same blocks with the same ids. A script is a JSON object:
//
//	{"turns": [
//	  {"match": "fix the test", "steps": [
//	    {"text": "I start the server.", "delay_ms": 20,
//	     "tools": [{"name": "Bash", "input": {"command": "serve", "run_in_background": true}}]},
//	    {"tools": [{"name": "BashOutput", "input": {"bash_id": "{{result:bash_[0-9]+}}"}}],
//	     "fail": [{"class": "server", "status": 529}]},
//	    {"text": "Done."}
//	  ]}
//	]}
//
// The turn is the one whose match stands in the newest text of a user that any match stands in; of several the first.
// The step is the number of assistant messages since. A turn without a match counts from the first user message and is
// taken when no match is found. A step answers with its thinking, its text, then its tool calls.
//
// fail[i] strikes attempt i+1 of a step, as the act's id counts attempts; later attempts succeed. With "after" the
// reply breaks off after so many deltas.
//
// {{result:PATTERN}} in a text, or in a string of a tool's input, is replaced by what the regular expression finds
// (its first group, if it has one) in the newest tool result where it finds anything. Where it finds nothing the call
// fails, because an answer that is made up would hide a broken demo.
//
// After a compaction, assistant messages are missing: then the step is the one that the act's id names. A request that is
// to be answered without tools is one for a summary, and gets "summary"; one for a title gets "title".
//
// Usage is one token for every four bytes of what was asked and answered, rounded up.
package scripted

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/short"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
	"github.com/perdure/perdure/store"
)

// Name is the provider's name in MODEL arguments, and the model that responses name.
const Name = "scripted"

// maxScript bounds a script's file, in bytes.
const maxScript = 16 << 20

// Script says what the model answers.
type Script struct {
	Turns   []Turn `json:"turns"`
	Summary *Step  `json:"summary"` // the answer to a request for a summary; nil: a sentence
	Title   *Step  `json:"title"`   // the answer to a request for a title; nil: none is given
}

// Turn is the answers to one prompt.
type Turn struct {
	Match string `json:"match"` // stands in the prompt; empty: the conversation's first one, whatever it is
	Steps []Step `json:"steps"`
}

// Step is one answer.
type Step struct {
	Thinking string              `json:"thinking"`
	Text     string              `json:"text"`
	Tools    []ToolCall          `json:"tools"`
	Stop     modelapi.StopReason `json:"stop"`     // empty: tool_use with tools, else end_turn
	DelayMS  int64               `json:"delay_ms"` // before each delta
	Fail     []Failure           `json:"fail"`
}

// ToolCall is one call of an answer. Input is sent byte for byte, but for what {{…}} stands for; empty is {}.
type ToolCall struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Failure is how an attempt fails.
type Failure struct {
	Class        modelapi.Class `json:"class"`
	Status       int            `json:"status"`
	Message      string         `json:"message"`
	RetryAfterMS int64          `json:"retry_after_ms"`
	After        int            `json:"after"` // deltas that come first; 0: nothing was begun
}

// Provider plays a script. It is safe for concurrent use.
type Provider struct {
	// Sleep waits between deltas; nil is a real wait. It returns ctx's error when ctx ends first.
	Sleep  func(ctx context.Context, d time.Duration) error
	script Script
}

// New plays a script that is already read.
func New(s Script) *Provider { return &Provider{script: s} }

// Open reads a script's file, the name of which may come from a session of somebody else. Its errors name the file.
func Open(file string) (*Provider, error) {
	b, err := short.Read(file, maxScript, 0)
	if err != nil {
		return nil, fmt.Errorf("open script: %w", err)
	}
	s, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("open script %s: %w", file, err)
	}
	return New(s), nil
}

// Parse reads a script and refuses what it does not know, so that a typing mistake is not a silent change.
func Parse(b []byte) (Script, error) {
	var s Script
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("parse script: %w", err)
	}
	for i, t := range s.Turns {
		for j, st := range t.Steps {
			if st.Thinking == "" && st.Text == "" && len(st.Tools) == 0 {
				return Script{}, fmt.Errorf("parse script: turn %d step %d says nothing", i, j)
			}
			if st.DelayMS < 0 || st.DelayMS > 60_000 {
				return Script{}, fmt.Errorf("parse script: turn %d step %d has a delay of %d ms", i, j, st.DelayMS)
			}
		}
	}
	return s, nil
}

// Name is "scripted".
func (p *Provider) Name() string { return Name }

// Prefix is the digest of system, tools and messages.
func (p *Provider) Prefix(r modelapi.Request) ([32]byte, error) {
	return store.Sum(appendRequest(nil, r)), nil
}

// CountTokens counts as Usage does.
func (p *Provider) CountTokens(_ context.Context, r modelapi.Request) (int64, error) {
	return tokens(len(appendRequest(nil, r))), nil
}

// Call answers from the script.
func (p *Provider) Call(ctx context.Context, r modelapi.Request, sink func(modelapi.Delta)) (*modelapi.Response, error) {
	if sink == nil {
		sink = func(modelapi.Delta) {}
	}
	pos, err := p.script.find(r)
	if err != nil {
		return nil, err
	}
	resp, err := pos.response(r)
	if err != nil {
		return nil, err
	}
	fail := pos.failure(r.Act)
	if fail != nil && fail.After <= 0 {
		return nil, fail.error(modelapi.Error{})
	}
	asked := model.Usage{Input: resp.Usage.Input}
	ds := append([]modelapi.Delta{{Kind: modelapi.DeltaStart, Usage: asked}}, deltas(resp.Blocks)...)
	for i, d := range ds {
		if fail != nil && i == fail.After {
			break
		}
		if err := p.sleep(ctx, time.Duration(pos.step.DelayMS)*time.Millisecond); err != nil {
			return nil, err
		}
		sink(d)
	}
	if fail != nil {
		return nil, fail.error(modelapi.Error{Started: true, Usage: asked})
	}
	return resp, nil
}

func (p *Provider) sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d == 0 {
		return err
	}
	if p.Sleep != nil {
		return p.Sleep(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (f *Failure) error(e modelapi.Error) error {
	e.Class, e.Status, e.Message = f.Class, f.Status, f.Message
	e.RetryAfter = time.Duration(f.RetryAfterMS) * time.Millisecond
	if e.Class == "" {
		e.Class = modelapi.ClassServer
	}
	if e.Message == "" {
		e.Message = "scripted failure"
	}
	return &e
}

// attempt reads the attempt out of an act id; without one it is the first.
func attempt(act string) int {
	_, s, _ := strings.Cut(act[len(session.BaseOf(act)):], ".a")
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1
	}
	return n
}
