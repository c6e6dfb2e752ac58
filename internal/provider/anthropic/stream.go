package anthropic

import (
	"bytes"
	"fmt"

	"github.com/perdure/perdure/internal/provider/raw"
	"github.com/perdure/perdure/modelapi"
)

// block is one content block while it streams: the object it began with, and what its deltas added to the object's
// strings, still escaped.
type block struct {
	start  []byte
	kind   string
	silent bool // no fragment of input came
	fields []field
	args   []byte // of a tool call: the fragments' inner parts
	cites  []byte // citations, separated by commas
}

// field is a string member that grows.
type field struct {
	key   string
	inner []byte
}

func newBlock(start []byte) *block {
	b := &block{start: bytes.Clone(start), kind: raw.GetString(start, "type")}
	b.silent = len(raw.Elements(raw.Get(start, "input"))) == 0 && len(raw.Keys(raw.Get(start, "input"))) == 0
	return b
}

// isTool reports whether the block has input that streams as fragments.
func (b *block) isTool() bool { return !raw.IsNull(raw.Get(b.start, "input")) || len(b.args) > 0 }

// add takes one delta and returns what there is to show of it.
func (b *block) add(delta []byte) (modelapi.Delta, error) {
	switch kind := raw.GetString(delta, "type"); kind {
	case "text_delta":
		return b.grow(modelapi.DeltaText, delta, "text")
	case "thinking_delta":
		return b.grow(modelapi.DeltaThinking, delta, "thinking")
	case "signature_delta":
		_, err := b.grow("", delta, "signature")
		return modelapi.Delta{}, err
	case "input_json_delta":
		v := raw.Get(delta, "partial_json")
		inner, ok := raw.Inner(v)
		if !ok {
			return modelapi.Delta{}, fmt.Errorf("an input_json_delta without partial_json")
		}
		if len(inner) > 0 {
			b.silent = false
		}
		b.args = append(b.args, inner...)
		s, _ := raw.String(v)
		return modelapi.Delta{Kind: modelapi.DeltaTool, Text: s}, nil
	case "citations_delta":
		c := raw.Get(delta, "citation")
		if raw.IsNull(c) {
			return modelapi.Delta{}, fmt.Errorf("a citations_delta without a citation")
		}
		if len(b.cites) > 0 {
			b.cites = append(b.cites, ',')
		}
		b.cites = append(b.cites, c...)
		return modelapi.Delta{}, nil
	case "compaction_delta":
		for _, k := range raw.Keys(delta) {
			if k != "type" {
				b.start = raw.Set(b.start, k, raw.Get(delta, k))
			}
		}
		return modelapi.Delta{}, nil
	default:
		return modelapi.Delta{}, fmt.Errorf("a delta of the unknown kind %q", kind)
	}
}

// grow adds the delta's string to the block's string of the same name.
func (b *block) grow(kind modelapi.DeltaKind, delta []byte, key string) (modelapi.Delta, error) {
	v := raw.Get(delta, key)
	inner, ok := raw.Inner(v)
	if !ok {
		return modelapi.Delta{}, fmt.Errorf("a %s delta without its text", key)
	}
	f := b.field(key)
	f.inner = append(f.inner, inner...)
	s, _ := raw.String(v)
	return modelapi.Delta{Kind: kind, Text: s}, nil
}

func (b *block) field(key string) *field {
	for i := range b.fields {
		if b.fields[i].key == key {
			return &b.fields[i]
		}
	}
	first, _ := raw.Inner(raw.Get(b.start, key))
	b.fields = append(b.fields, field{key: key, inner: bytes.Clone(first)})
	return &b.fields[len(b.fields)-1]
}

// seal returns the block's bytes, and whether its input, if it has one, is a whole JSON object.
func (b *block) seal() ([]byte, bool) {
	out := b.start
	for _, f := range b.fields {
		out = raw.Set(out, f.key, raw.Quote(f.inner))
	}
	if len(b.cites) > 0 {
		out = raw.Set(out, "citations", raw.Append(raw.Get(out, "citations"), b.cites))
	}
	if in := b.input(); in != nil {
		if !raw.IsObject(in) {
			return nil, false
		}
		out = raw.Set(out, "input", in)
	}
	return out, true
}

// input is the tool input as the model wrote it: the fragments if any came, else what the block began with; nothing
// is {}. It is nil for a block without input.
func (b *block) input() []byte {
	if len(b.args) > 0 {
		s, _ := raw.String(raw.Quote(b.args))
		if !blank(s) {
			return []byte(s)
		}
	}
	v := raw.Get(b.start, "input")
	if raw.IsNull(v) && (b.kind == "tool_use" || len(b.args) > 0) {
		return []byte("{}")
	}
	return v
}

func toValid(b []byte) []byte { return bytes.ToValidUTF8(b, []byte("\ufffd")) }
