package export

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/perdure/perdure/internal/meter"
	"github.com/perdure/perdure/internal/picture"
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Bounds of the images that are kept, in bytes.
const (
	maxImage  = 2 << 20
	maxImages = 16 << 20
)

// reply reads a sealed reply of the model: its words, its thinking, and the calls that it asks for.
func (r *Reader) reply(e store.Event, b *session.ModelResponded) {
	t := r.now()
	meter.Add(&t.Usage, b.Usage)
	if b.Cost == nil {
		t.Unknown = true
	} else {
		t.Cost += *b.Cost
	}
	if !slices.Contains(t.Models, b.Model) {
		t.Models = append(t.Models, b.Model)
	}
	if session.ForSummary(b.Act) {
		return // its words are those of the compaction or of the handoff
	}
	t.Steps++
	for i, bl := range b.Blocks {
		switch bl.Type {
		case model.BlockText:
			r.text(e, Reply, string(bl.Shown))
		case model.BlockThinking:
			r.text(e, Thinking, thought(bl))
		case model.BlockToolUse:
			r.call(e, callBase(b.Act, i+1), bl)
		case model.BlockToolResult, model.BlockImage, model.BlockDocument, model.BlockOther:
		}
	}
}

// thought is the readable text of a block of thinking; empty if the provider shows none.
func thought(bl session.SealedBlock) string {
	if len(bl.Shown) > 0 {
		return string(bl.Shown)
	}
	var fields map[string]any
	if json.Unmarshal(bl.Raw, &fields) != nil {
		return ""
	}
	for _, name := range []string{"thinking", "reasoning_content", "reasoning", "text"} {
		if s, _ := fields[name].(string); s != "" {
			return s
		}
	}
	return ""
}

// callBase is the base of the act of the block-th block of a reply.
func callBase(act string, block int) string {
	base := session.BaseOf(act)
	if i := strings.LastIndex(base, ".b"); i >= 0 {
		base = base[:i]
	}
	return base + ".b" + strconv.Itoa(block)
}

func (r *Reader) call(e store.Event, base string, bl session.SealedBlock) {
	input := r.input(bl.Input)
	c := &Call{ID: base, Tool: bl.Name, About: session.About(input)}
	c.Input, c.Long = parted(input)
	r.calls[base] = c
	r.now().Calls++
	r.add(&Entry{Kind: ToolCall, Time: e.Time, Call: c})
}

// input is the arguments of a call with the secrets in its strings hidden.
func (r *Reader) input(b []byte) []byte {
	if r.hide == nil || len(b) == 0 {
		return b
	}
	out, n := hideJSON(r.hide, b)
	r.hidden += n
	return out
}

// hideJSON hides the secrets in the strings of a JSON text. One without any is left byte for byte.
func hideJSON(hide Hide, b []byte) ([]byte, int) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		text, n := hide(string(b))
		return []byte(text), n
	}
	v, n := hideValue(hide, v)
	if n == 0 {
		return b, 0
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return []byte("null"), n
	}
	return bytes.TrimSpace(out.Bytes()), n
}

// hideValue hides in strings and in the names of fields, however deep.
func hideValue(hide Hide, v any) (any, int) {
	total := 0
	switch v := v.(type) {
	case string:
		text, n := hide(v)
		return text, n
	case []any:
		for i := range v {
			var n int
			v[i], n = hideValue(hide, v[i])
			total += n
		}
		return v, total
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, value := range v {
			shown, n := hide(name)
			value, m := hideValue(hide, value)
			out[shown], total = value, total+n+m
		}
		return out, total
	}
	return v, 0
}

// parted takes from the arguments of a call what people read as text, and lays out the rest, a field a line, in the
// order in which the model wrote them.
func parted(input []byte) (rest string, long []Field) {
	dec := json.NewDecoder(bytes.NewReader(input))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') || !json.Valid(input) {
		return laidOut(input), nil
	}
	var left [][]byte
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return laidOut(input), nil
		}
		var text string
		if json.Unmarshal(value, &text) == nil && (name == "command" || strings.Contains(strings.TrimSuffix(text, "\n"), "\n")) {
			long = append(long, Field{name, text})
			continue
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return laidOut(input), nil
		}
		left = append(left, append(append(quoted, ':'), value...))
	}
	if len(left) == 0 {
		return "", long
	}
	return laidOut(append(append([]byte{'{'}, bytes.Join(left, []byte{','})...), '}')), long
}

// laidOut is JSON with a field a line; anything else as it is.
func laidOut(b []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, b, "", "  ") != nil {
		return string(b)
	}
	return out.String()
}

// content is the text of parts, with its line ends as draw has them, and what else they have.
func (r *Reader) content(parts []model.Part, draw func(string) string) (text string, rest []Part) {
	for _, p := range parts {
		if p.Type == model.BlockText {
			continue
		}
		part := Part{Media: p.Media, Size: len(p.Data)}
		if shows(p) && len(p.Data) <= maxImage && r.images+len(p.Data) <= maxImages {
			r.images += len(p.Data)
			part.Data = p.Data
		}
		rest = append(rest, part)
	}
	return r.say(draw(texts(parts))), rest
}

// shows reports an image that a browser draws and that can do nothing else. Its bytes have to be what it says.
func shows(p model.Part) bool {
	return p.Type == model.BlockImage && p.Media != "" && picture.Media(p.Data) == p.Media
}

func mapKeys(m map[int64]*Entry) iter.Seq[int64] { return maps.Keys(m) }
