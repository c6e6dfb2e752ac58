package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// EventLine is an event as people and programs read it: its JSON is one line of the log. Nothing reads it back; the
// log itself is the encoded bodies.
type EventLine struct {
	Session string       `json:"session,omitempty"` // whose event it is, where several logs are shown together
	Seq     int64        `json:"seq"`
	Time    string       `json:"time"` // RFC 3339 in UTC, with milliseconds
	Kind    store.Kind   `json:"kind"`
	Actor   store.Actor  `json:"actor"`
	Body    any          `json:"body"`
	Hash    store.Digest `json:"hash"`
}

// EventView gives an event its JSON form. The body is the fields of its head, with the raw parts in their places: text
// as a string where it is UTF-8, else base64 under the name with _base64 added; a provider's bytes as the JSON they
// are. An erased body is {"erased": true}. A nil body is decoded from the event; what cannot be decoded is told in the
// body, so that one damaged event does not hide the others.
func EventView(e store.Event, body Body) EventLine {
	l := EventLine{Seq: e.Seq, Time: time.UnixMilli(e.Time).UTC().Format("2006-01-02T15:04:05.000Z"), Kind: e.Kind, Actor: e.Actor, Hash: e.Hash}
	if body == nil {
		var err error
		if body, err = Decode(e); err != nil {
			l.Body = map[string]any{"error": err.Error(), "raw_base64": e.Body}
			return l
		}
	}
	if _, ok := body.(*Unknown); ok {
		l.Body = unknownView(e)
		return l
	}
	l.Body = bodyView(body)
	return l
}

// Summary says in a few words what an event is about. It may hold text of the model and of programs, so it is shown
// escaped and cut.
func Summary(e store.Event) string {
	body, err := Decode(e)
	if err != nil {
		return err.Error()
	}
	return body.summary()
}

// things counts in words, by the word for one.
func things(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func bodyView(body Body) any {
	m := headView(body)
	if m == nil {
		return map[string]any{}
	}
	body.show(m)
	return m
}

// headView is the head's fields, numbers kept as they are written.
func headView(v any) map[string]any {
	head, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return object(head)
}

// object decodes a JSON object; nil for anything else.
func object(b []byte) map[string]any {
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if d.Decode(&m) != nil {
		return nil
	}
	return m
}

// entry is the i-th object of a list in m; a new one where the head has none.
func entry(m map[string]any, list string, i int) map[string]any {
	l, _ := m[list].([]any)
	if i < len(l) {
		if o, ok := l[i].(map[string]any); ok {
			return o
		}
	}
	return map[string]any{}
}

func viewParts(m map[string]any, parts []model.Part) {
	for i, p := range parts {
		o := entry(m, "content", i)
		if p.Type == model.BlockText {
			viewText(o, "text", p.Data)
		} else {
			o["data_base64"] = p.Data
		}
	}
}

func viewBlocks(m map[string]any, blocks []SealedBlock) {
	for i, bl := range blocks {
		o := entry(m, "blocks", i)
		delete(o, "text") // of the head: only tells that there is a text
		viewJSON(o, "raw", bl.Raw)
		switch bl.Type {
		case model.BlockText:
			viewText(o, "text", bl.Shown)
		case model.BlockToolUse:
			viewJSON(o, "input", bl.Input)
		case model.BlockThinking, model.BlockToolResult, model.BlockImage, model.BlockDocument, model.BlockOther:
		}
	}
}

func viewText(m map[string]any, name string, b []byte) {
	if utf8.Valid(b) {
		m[name] = string(b)
	} else {
		m[name+"_base64"] = b
	}
}

// viewJSON embeds bytes that are JSON as they are.
func viewJSON(m map[string]any, name string, b []byte) {
	switch {
	case len(b) == 0:
		m[name] = nil
	case utf8.Valid(b) && json.Valid(b):
		m[name] = json.RawMessage(b)
	default:
		viewText(m, name, b)
	}
}

// unknownView shows what can be seen of a body that this version does not know: its head if it has one, its parts in
// order.
func unknownView(e store.Event) any {
	if e.Body == nil {
		return map[string]any{"erased": true}
	}
	if e.Codec != Codec1 {
		return map[string]any{"codec": e.Codec, "raw_base64": e.Body}
	}
	head, parts, err := split(e.Body)
	m := object(head)
	if err != nil || m == nil {
		return map[string]any{"raw_base64": e.Body}
	}
	if len(parts) > 0 {
		list := make([]any, len(parts))
		for i, p := range parts {
			o := map[string]any{}
			viewText(o, "text", p)
			list[i] = o
		}
		m["parts"] = list
	}
	return m
}
