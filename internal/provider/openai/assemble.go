package openai

import (
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/provider/api"
	"github.com/perdure/perdure/internal/provider/raw"
	"github.com/perdure/perdure/internal/provider/toolid"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/modelapi"
)

// assembler makes a response of the chunks of one stream.
type assembler struct {
	name      string
	req       modelapi.Request
	requestID string
	sink      func(modelapi.Delta)

	started bool
	done    bool
	id      string
	model   string
	usage   []byte // the newest usage object
	finish  string

	text      joined
	reasoning joined
	field     string // the name that the server gives to reasoning
	refused   bool   // the model said its refusal in so many words
	calls     []*pending
}

func newAssembler(name string, r modelapi.Request, requestID string, sink func(modelapi.Delta)) *assembler {
	if sink == nil {
		sink = func(modelapi.Delta) {}
	}
	return &assembler{name: name, req: r, requestID: requestID, sink: sink}
}

// event takes the data of one event.
func (a *assembler) event(data []byte) error {
	if string(data) == "[DONE]" {
		a.done = true
		return nil
	}
	if !utf8.Valid(data) {
		data = toValid(data)
	}
	if !raw.IsObject(data) {
		return a.protocol("event is not understood: %.200q", data)
	}
	if e := raw.Get(data, "error"); !raw.IsNull(e) {
		return api.InStream(data, a.requestID)
	}
	if !a.started {
		a.started = true
		a.sink(modelapi.Delta{Kind: modelapi.DeltaStart})
	}
	if a.id == "" {
		a.id = raw.GetString(data, "id")
	}
	if a.model == "" {
		a.model = raw.GetString(data, "model")
	}
	for _, c := range raw.Elements(raw.Get(data, "choices")) {
		if raw.Int(raw.Get(c, "index")) != 0 {
			continue // one choice is asked for
		}
		if err := a.choice(c); err != nil {
			return err
		}
		if u := raw.Get(c, "usage"); !raw.IsNull(u) {
			a.usage = u
		}
	}
	for _, from := range [][]byte{raw.Get(raw.Get(data, "x_groq"), "usage"), raw.Get(data, "usage")} {
		if !raw.IsNull(from) {
			a.usage = from
		}
	}
	return nil
}

func (a *assembler) choice(c []byte) error {
	if e := raw.Get(c, "error"); !raw.IsNull(e) {
		return api.InStream(c, a.requestID)
	}
	if f := raw.GetString(c, "finish_reason"); f != "" {
		a.finish = f
	}
	d := raw.Get(c, "delta")
	if raw.IsNull(d) {
		d = raw.Get(c, "message")
	}
	if raw.IsNull(d) {
		return nil
	}
	for _, k := range [...]string{"reasoning_content", "reasoning"} {
		if v := raw.Get(d, k); !raw.IsNull(v) && (a.field == "" || a.field == k) {
			s, ok := a.reasoning.add(v)
			if !ok {
				return a.protocol("%s is no string: %.200q", k, v)
			}
			if s != "" {
				a.field = k
				a.sink(modelapi.Delta{Kind: modelapi.DeltaThinking, Text: s})
			}
		}
	}
	if v := raw.Get(d, "content"); !raw.IsNull(v) {
		if err := a.content(v); err != nil {
			return err
		}
	}
	if v := raw.Get(d, "refusal"); !raw.IsNull(v) {
		a.refused = true
		if err := a.content(v); err != nil {
			return err
		}
	}
	calls := raw.Get(d, "tool_calls")
	if !raw.IsNull(calls) && raw.Elements(calls) == nil && string(calls) != "[]" {
		return a.protocol("tool_calls is no array: %.200q", calls)
	}
	for _, t := range raw.Elements(calls) {
		if err := a.toolCall(t); err != nil {
			return err
		}
	}
	return nil
}

// content is a string, or an array of parts with a text each.
func (a *assembler) content(v []byte) error {
	parts := raw.Elements(v)
	if v[0] != '[' {
		parts = [][]byte{v}
	}
	for _, p := range parts {
		if raw.IsObject(p) {
			if kind := raw.GetString(p, "type"); kind != "text" {
				return a.protocol("content of the unknown type %q", kind)
			}
			p = raw.Get(p, "text")
		}
		s, ok := a.text.add(p)
		if !ok {
			return a.protocol("content is no text: %.200q", p)
		}
		if s != "" {
			a.sink(modelapi.Delta{Kind: modelapi.DeltaText, Text: s})
		}
	}
	return nil
}

// end decides what the end of the stream means when no [DONE] came: some servers never send it. The reply is whole
// when it has its finish reason and the counts that follow it; without the counts it may have been cut between.
func (a *assembler) end(err error) error {
	broken, is := errors.AsType[*modelapi.Error](err)
	if !errors.Is(err, io.EOF) && (!is || broken.Class == modelapi.ClassProtocol) {
		return err
	}
	if a.finish == "" || a.usage == nil {
		return err
	}
	a.done = true
	return nil
}

// response seals the blocks.
func (a *assembler) response() (*modelapi.Response, error) {
	stop, err := a.stopReason()
	if err != nil {
		return nil, err
	}
	r := &modelapi.Response{ID: a.id, Model: a.model, Stop: stop, Usage: a.count()}
	r.Unmetered = r.Usage == model.Usage{}
	add := func(t model.BlockType, field string, x joined) {
		if len(x.inner) > 0 {
			b := append([]byte(`{"type":"`+string(t)+`",`), raw.AppendString(nil, field)...)
			b = append(append(append(b, ':'), raw.Quote(x.inner)...), '}')
			r.Blocks = append(r.Blocks, model.Block{
				Type: t, Raw: b, Provider: a.name, Text: raw.GetString(b, field),
			})
		}
	}
	add(model.BlockThinking, a.field, a.reasoning)
	add(model.BlockText, "text", a.text)
	used := toolid.InHistory(a.req.Messages)
	for i, c := range a.calls {
		input, quoted := c.arguments()
		if c.name == "" && c.args.empty() {
			continue // an empty frame, not a call
		}
		if c.name == "" {
			return nil, a.protocol("tool call %d has no name", i)
		}
		if stop == modelapi.StopMaxTokens && i == len(a.calls)-1 && (c.args.empty() || !json.Valid(input)) {
			continue
		}
		id := used.Claim(c.id, a.req.Act, i, toolid.Present)
		r.Blocks = append(r.Blocks, model.Block{
			Type: model.BlockToolUse, Raw: appendCall(nil, id, c.name, quoted), Provider: a.name,
			Tool: &model.ToolUse{ID: id, Name: c.name, Input: input},
		})
		if stop == modelapi.StopEndTurn {
			r.Stop = modelapi.StopToolUse
		}
	}
	return r, nil
}

// stopReason normalises a word that servers are free with: what is not known is the end of the reply, unless it
// says that the server gave up.
func (a *assembler) stopReason() (modelapi.StopReason, error) {
	switch a.finish {
	case "length", "max_tokens", "model_length":
		return modelapi.StopMaxTokens, nil
	case "content_filter", "refusal":
		return modelapi.StopRefusal, nil
	case "error", "abort", "aborted", "cancelled", "network_error", "insufficient_system_resource":
		return "", &modelapi.Error{
			Class: modelapi.ClassServer, Message: "the server gave up: finish reason " + a.finish, RequestID: a.requestID,
		}
	case "":
		if !a.started {
			return "", a.protocol("the stream held no reply")
		}
	}
	if a.refused && len(a.calls) == 0 {
		return modelapi.StopRefusal, nil
	}
	return modelapi.StopEndTurn, nil
}

// count makes disjoint counts: this API counts cached tokens as part of the prompt.
func (a *assembler) count() model.Usage {
	details := raw.Get(a.usage, "prompt_tokens_details")
	u := model.Usage{
		Output:     raw.Int(raw.Get(a.usage, "completion_tokens")),
		CacheRead:  raw.Int(raw.Get(details, "cached_tokens")),
		CacheWrite: raw.Int(raw.Get(details, "cache_write_tokens")),
	}
	if details == nil {
		u.CacheRead = raw.Int(raw.Get(a.usage, "prompt_cache_hit_tokens"))
	}
	prompt := raw.Int(raw.Get(a.usage, "prompt_tokens"))
	u.CacheRead = min(u.CacheRead, prompt)
	u.CacheWrite = min(u.CacheWrite, prompt-u.CacheRead)
	u.Input = prompt - u.CacheRead - u.CacheWrite
	return u
}

// lost completes an error of a reply that was not sealed.
func (a *assembler) lost(err error) error {
	e, ok := errors.AsType[*modelapi.Error](err)
	if !ok {
		if !errors.Is(err, io.EOF) {
			return err
		}
		e = &modelapi.Error{Class: modelapi.ClassDisconnect, Message: "the stream ended before the reply was complete"}
	}
	if e.RequestID == "" {
		e.RequestID = a.requestID
	}
	e.Started, e.Usage = a.started, a.count()
	e.Usage.Output = 0
	return e
}

func (a *assembler) protocol(format string, args ...any) error {
	return api.Protocol(a.requestID, format, args...)
}
