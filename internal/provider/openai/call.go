package openai

import (
	"bytes"

	"github.com/perdure/perdure/internal/provider/raw"
	"github.com/perdure/perdure/modelapi"
)

// maxCalls bounds the tool calls of one reply.
const maxCalls = 1024

// joined joins JSON strings without decoding them.
type joined struct{ inner []byte }

// add appends a JSON string and returns it decoded, to be shown.
func (t *joined) add(v []byte) (string, bool) {
	inner, ok := raw.Inner(v)
	if !ok {
		return "", false
	}
	t.inner = append(t.inner, inner...)
	s, _ := raw.String(v)
	return s, true
}

func (t *joined) empty() bool { return len(t.inner) == 0 }

// pending is a tool call while it streams.
type pending struct {
	index int64 // as the server counts; -1 when it does not
	id    string
	name  string
	args  joined
}

// arguments returns the input as the model wrote it, and the JSON string that says it. Nothing is {}, because servers
// that read the string refuse an empty one.
func (c *pending) arguments() (input, quoted []byte) {
	quoted = raw.Quote(c.args.inner)
	s, _ := raw.String(quoted)
	if blank(s) {
		return []byte("{}"), []byte(`"{}"`)
	}
	return []byte(s), quoted
}

// toolCall takes one element of a delta's tool_calls.
func (a *assembler) toolCall(t []byte) error {
	if !raw.IsObject(t) {
		return a.protocol("a tool call is no object: %.200q", t)
	}
	fn := raw.Get(t, "function")
	index := int64(-1)
	if v := raw.Get(t, "index"); !raw.IsNull(v) {
		index = raw.Int(v)
	}
	id, name := raw.GetString(t, "id"), raw.GetString(fn, "name")
	c := a.find(index, id, name)
	if c == nil {
		if len(a.calls) == maxCalls {
			return a.protocol("more than %d tool calls", maxCalls)
		}
		c = &pending{index: index}
		a.calls = append(a.calls, c)
	}
	if c.id == "" {
		c.id = id
	}
	if name != "" && name != c.name {
		c.name += name
		a.sink(modelapi.Delta{Kind: modelapi.DeltaTool, Tool: c.name, ID: c.id})
	}
	v := raw.Get(fn, "arguments")
	if raw.IsNull(v) {
		return nil
	}
	if v[0] != '"' {
		// Some servers send the arguments as an object instead of a string.
		v = raw.AppendString(nil, string(bytes.TrimSpace(v)))
	}
	s, ok := c.args.add(v)
	if !ok {
		return a.protocol("tool arguments are no string: %.200q", v)
	}
	if s != "" {
		a.sink(modelapi.Delta{Kind: modelapi.DeltaTool, Tool: c.name, ID: c.id, Text: s})
	}
	return nil
}

// find returns the call that a fragment belongs to, nil for a new one. Servers count calls by index; some give every
// call the index 0 and tell them apart by id, some give neither.
func (a *assembler) find(index int64, id, name string) *pending {
	for i := len(a.calls) - 1; i >= 0; i-- {
		c := a.calls[i]
		other := id != "" && c.id != "" && id != c.id && name != ""
		switch {
		case index >= 0 && c.index == index && !other:
			return c
		case index < 0 && id != "" && c.id == id:
			return c
		case index < 0 && id == "" && (name == "" || c.name == "") && i == len(a.calls)-1:
			return c
		}
	}
	return nil
}

func toValid(b []byte) []byte { return bytes.ToValidUTF8(b, []byte("\ufffd")) }
