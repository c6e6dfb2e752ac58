package modeltest

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestRemoveMember(t *testing.T) {
	for in, want := range map[string]string{
		`{"x":1}`:                           `{}`,
		`{"x":1,"a":2}`:                     `{"a":2}`,
		`{"a":2,"x":{"x":[1,"}"]}}`:         `{"a":2}`,
		`{ "a" : 2 , "x" : 3 , "b" : 1.0 }`: `{ "a" : 2 , "b" : 1.0 }`,
		`{"a":"x\":1"}`:                     `{"a":"x\":1"}`,
		`["x"]`:                             `["x"]`,
	} {
		if got := string(removeMember([]byte(in), "x")); got != want {
			t.Errorf("%s gave %s, want %s", in, got, want)
		}
	}
}

// A marker leaves no trace on any block, nested ones included, and everything
// else keeps its bytes.
func TestMarkersLeaveNoTrace(t *testing.T) {
	const plain = `{"role":"user","content":[ {"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a\u003cb"}]},` +
		"\n" + `{"type":"text","text":"x"}]}`
	const marked = `{"role":"user","content":[ {"type":"tool_result","cache_control":{"type":"ephemeral","ttl":"1h"},"tool_use_id":"t",` +
		`"content":[{"cache_control":{"type":"ephemeral"},"type":"text","text":"a\u003cb"}]},` +
		"\n" + `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}`
	a, b := stripper{}, stripper{}
	m, bad := a.message(0, []byte(plain))
	n, bad2 := b.message(0, []byte(marked))
	if bad != nil || bad2 != nil || string(m.Raw) != plain || string(n.Raw) != plain || a.markers != 0 || b.markers != 3 {
		t.Errorf("%v %v\n%s\n%s\n%d markers", bad, bad2, m.Raw, n.Raw, b.markers)
	}
}

// The scanner must find in any valid JSON what encoding/json finds, must never
// panic, and must put together again what it took apart.
func FuzzRaw(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `{"a":[1,{"b":"]}"}],"c":"\\\""}`, ` [ 1 , "x" ,null ] `, `{"a" : -1.5e3 , "b":true}`, `"x"`, `1`, `{"":{}}`, oddInput,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) == nil && object != nil {
			seen := map[string][]byte{}
			for _, m := range members(raw) {
				seen[m.key] = m.value
			}
			if len(seen) != len(object) {
				t.Fatalf("%q has %d keys, not %d", raw, len(object), len(seen))
			}
			for k, v := range object {
				if !bytes.Equal(seen[k], v) {
					t.Fatalf("%q at %q: %q, want %q", raw, k, seen[k], v)
				}
			}
		}
		var array []json.RawMessage
		if json.Unmarshal(raw, &array) == nil && array != nil {
			got := elements(raw)
			if len(got) != len(array) {
				t.Fatalf("%q has %d elements, not %d", raw, len(array), len(got))
			}
			for i := range array {
				if !bytes.Equal(got[i], array[i]) {
					t.Fatalf("%q at %d: %q, want %q", raw, i, got[i], array[i])
				}
			}
		}
		same := func(e []byte) []byte { return e }
		if got := mapElements(raw, same); !bytes.Equal(got, raw) {
			t.Fatalf("%q became %q", raw, got)
		}
		if len(object) > 0 && !json.Valid(removeMember(raw, members(raw)[0].key)) {
			t.Fatalf("%q lost a member and is broken", raw)
		}
		if !sameJSON(raw, raw) && bytes.Count(raw, []byte(`"`)) == 0 {
			t.Fatalf("%q differs from itself", raw)
		}
	})
}

// No body, however odd, may bring the server down or be taken for lawful by
// accident: whatever parses must survive all rules.
func FuzzRules(f *testing.F) {
	f.Add([]byte(ask(callOf("t")+user(`[`+result("t", "r")+`]`), "")))
	f.Add([]byte(ask(hi+","+assistant(`[{"type":"thinking","thinking":"t","signature":"s"}]`)+","+hi, `,"tools":[{}],"system":[1]`)))
	f.Add([]byte(chat(chatCallOf("t")+toolMessage("t", "r"), `,"tools":[{}]`)))
	f.Add([]byte(`{"messages":[{"role":"user","content":[[]]},1],"tools":{},"system":{},"thinking":0}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		body = bytes.TrimSpace(body)
		if !json.Valid(body) {
			return
		}
		find := Script{}.find
		if r, bad := parseAnthropic(body); bad == nil {
			r.finish(find)
			_ = first(checkAnthropicParams(body, r, versionNew, false), checkAnthropicMessages(r), checkPairing(r))
			_, _, _ = (&conversation{}).check(r, true)
		}
		if r, bad := parseOpenAI(body); bad == nil {
			r.finish(find)
			_ = first(checkOpenAIParams(body, r), checkOpenAIMessages(r), checkPairing(r))
			_, _, _ = (&conversation{}).check(r, true)
		}
	})
}
