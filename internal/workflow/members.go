package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/perdure/perdure/internal/plain"
)

// MaxDocument bounds what is read of a document and what is written of one, in bytes.
const MaxDocument = 64 << 10

// member is one key of an object with its value as it was read.
type member struct {
	key string
	raw json.RawMessage
}

// members are an object, in the order of its keys.
type members []member

// parseObject reads the first level of an object. A key that comes twice counts the second time, as for other readers.
func parseObject(b []byte) (members, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil {
		return nil, err
	} else if t != json.Delim('{') {
		return nil, errors.New("it is no object")
	}
	var out members
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key, ok := t.(string)
		if !ok {
			return nil, errors.New("a key is no text")
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, err
		}
		out.setRaw(key, raw)
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	return out, nil
}

// checkText refuses what cannot be a document.
func checkText(b []byte) error {
	switch {
	case len(b) > MaxDocument:
		return fmt.Errorf("it has %d bytes, at most %d are read", len(b), MaxDocument)
	case !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0:
		return errors.New("it is no text")
	}
	return nil
}

func (ms members) get(key string) json.RawMessage {
	for _, m := range ms {
		if m.key == key {
			return m.raw
		}
	}
	return nil
}

// text is the value of a key that is a text; ok reports whether it is one.
func (ms members) text(key string) (s string, ok bool) {
	raw := ms.get(key)
	return s, raw != nil && raw[0] == '"' && json.Unmarshal(raw, &s) == nil
}

func (ms *members) setRaw(key string, raw json.RawMessage) {
	for i := range *ms {
		if (*ms)[i].key == key {
			(*ms)[i].raw = raw
			return
		}
	}
	*ms = append(*ms, member{key, raw})
}

// set writes a value; one that is nothing leaves no key.
func (ms *members) set(key string, v any) {
	raw := encode(v)
	switch string(raw) {
	case `""`, "null", "0", "[]", "{}":
		ms.drop(key)
		return
	}
	ms.setRaw(key, raw)
}

// setText writes a text. Without one the key goes, unless its value is something that this package does not know.
func (ms *members) setText(key, text string) {
	if _, known := ms.text(key); text == "" && !known {
		return
	}
	ms.set(key, text)
}

func (ms *members) drop(key string) {
	*ms = slices.DeleteFunc(*ms, func(m member) bool { return m.key == key })
}

func (ms members) json() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range ms {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(encode(m.key))
		b.WriteByte(':')
		b.Write(m.raw)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// encode writes a value of this package, without the escapes that are for HTML alone. What does not show by itself is
// escaped: no text of a session controls the terminal or turns the lines of who looks at the file.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage("null") // texts, numbers and lists of them always encode
	}
	raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if !bytes.ContainsFunc(raw, plain.Hidden) {
		return raw
	}
	var out []byte
	for _, r := range string(raw) { // what is hidden stands in texts only, since nothing is indented yet
		switch {
		case !plain.Hidden(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// list reads an array; anything else is none.
func list(raw json.RawMessage) (items []json.RawMessage, ok bool) {
	return items, len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &items) == nil
}
