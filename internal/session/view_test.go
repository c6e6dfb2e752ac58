package session

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/perdure/perdure/model"
	"github.com/perdure/perdure/store"
)

// Whatever an event holds, its line is valid JSON in UTF-8 with the six fields.
func FuzzEventView(f *testing.F) {
	for _, b := range []Body{
		&App{Namespace: "n", Data: []byte{0xff}}, &StateSet{Key: "k", Value: []byte("v")}, &ModelLost{Act: "a", Text: []byte("\xffx")},
		&MessageReceived{Content: []model.Part{model.TextPart("hi"), {Type: model.BlockImage, Data: []byte{1}}}}, &Opened{Agent: Agent{Tools: []byte(`[1,`)}},
		&ModelResponded{Blocks: []SealedBlock{{Type: model.BlockText, Raw: []byte(`{"a": "<\u00e9>"}`), Shown: []byte("é")}, {Type: model.BlockToolUse, Raw: []byte("{\xff}"), Input: []byte("no json")}}},
	} {
		raw, err := Encode(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(KindOf(b)), uint8(1), raw)
	}
	f.Add("later", uint8(1), []byte("\x02{}\x01\x01\xff"))
	f.Fuzz(func(t *testing.T, kind string, codec uint8, raw []byte) {
		line, err := json.Marshal(EventView(store.Event{Seq: 1, Kind: store.Kind(kind), Codec: codec, Body: raw}, nil))
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(line) {
			t.Fatalf("no UTF-8: %q", line)
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		for _, k := range []string{"seq", "time", "kind", "actor", "body", "hash"} {
			if _, ok := m[k]; !ok {
				t.Fatalf("no field %s in %s", k, line)
			}
		}
	})
}

// Goal: the line of an event shows what its body holds, one of a kind that this version does not know as far as that can
// be told, and nothing that is not there.
func TestEventViewShowsTheBody(t *testing.T) {
	known, err := Encode(&TaskNotRestarted{Task: "bash_1", Reason: "no"})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		kind store.Kind
		body []byte
		want string
	}{
		{KindOf(&TaskNotRestarted{}), known, `{"reason":"no","task":"bash_1"}`},
		{"later", []byte("\x07{\"a\":1}\x00"), `{"a":1}`},
		{"later", []byte("\x07{\"a\":1}\x01\x01x"), `{"a":1,"parts":[{"text":"x"}]}`},
	} {
		got, err := json.Marshal(EventView(store.Event{Seq: 1, Kind: row.kind, Codec: Codec1, Body: row.body}, nil).Body)
		if err != nil || string(got) != row.want {
			t.Errorf("%s: %s, want %s, %v", row.kind, got, row.want, err)
		}
	}
}
