package raw

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"
)

// Cutting and changing leave every other byte as it was.
func TestObjects(t *testing.T) {
	obj := []byte(` { "b" : 1.0, "a\u0062":"x\"}", "n":{"b":[1,{}]},"b": 12345678901234567890 } `)
	for key, want := range map[string]string{"b": "12345678901234567890", "ab": `"x\"}"`, "n": `{"b":[1,{}]}`, "": ""} {
		if got := string(Get(obj, key)); got != want {
			t.Errorf("%s: got %s", key, got)
		}
	}
	if got := Keys(obj); !reflect.DeepEqual(got, []string{"b", "ab", "n", "b"}) {
		t.Errorf("keys %q", got)
	}
	for _, c := range []struct{ obj, key, want string }{
		{`{"a": 1 ,"b":2}`, "a", `{"a": X ,"b":2}`},
		{`{"a":1}`, "c", `{"a":1,"c":X}`},
		{`{ } `, "c", `{ "c":X} `},
		{`{"a":1 }`, "c", `{"a":1 ,"c":X}`},
		{`[1]`, "c", `[1]`},
	} {
		in := []byte(c.obj)
		if got := string(Set(in, c.key, []byte("X"))); got != c.want || string(in) != c.obj {
			t.Errorf("%s: got %s, want %s (input now %s)", c.obj, got, c.want, in)
		}
	}
}

func TestArrays(t *testing.T) {
	es := Elements([]byte(" [1, \"a,]\" ,{\"x\":[]}\n] "))
	if len(es) != 3 || string(es[1]) != `"a,]"` || string(es[2]) != `{"x":[]}` {
		t.Errorf("got %q", es)
	}
	for _, c := range []struct{ arr, want string }{
		{`[{"a":1}, {"b": 2} ]`, `[{"a":1}, {"b": 2,"k":X} ]`}, {`[]`, `[]`}, {`{}`, `{}`},
	} {
		if got := string(SetInLast([]byte(c.arr), "k", []byte("X"))); got != c.want {
			t.Errorf("%s: got %s", c.arr, got)
		}
	}
	for _, c := range []struct{ arr, want string }{{`[1 ]`, `[1 ,X]`}, {`[]`, `[X]`}, {`null`, `[X]`}, {``, `[X]`}} {
		if got := string(Append([]byte(c.arr), []byte("X"))); got != c.want {
			t.Errorf("%s: got %s", c.arr, got)
		}
	}
}

func TestInt(t *testing.T) {
	for in, want := range map[string]int64{
		"7": 7, "7.0": 7, "1e3": 1000, "-1": 0, "null": 0, "": 0, `"7"`: 0, "1e400": 0, "NaN": 0, "9223372036854775807": 0,
	} {
		if got := Int([]byte(in)); got != want {
			t.Errorf("%q: got %d", in, got)
		}
	}
}

// A string survives: decoded it is the same, and only what must be is escaped.
func FuzzAppendString(f *testing.F) {
	f.Add("a\"\\\n\r\t\x00\x1f<>&\u2028\xff\xc3é😀")
	f.Fuzz(func(t *testing.T, s string) {
		b := AppendString(nil, s)
		got, ok := String(b)
		if !ok || !json.Valid(b) || !utf8.Valid(b) {
			t.Fatalf("%q became %q", s, b)
		}
		if want := string([]rune(s)); got != want {
			t.Fatalf("%q became %q", want, got)
		}
	})
}

// No bytes make the functions panic; on valid JSON a value that was set is found, and the rest stays.
func FuzzObjects(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":[{}]}`, `{"a"`, `{"a":}`, `[[],{"x":"\""}]`, `{"a":1,,}`, `"`, `{"":{"":"}"}}`} {
		f.Add(s, "a")
	}
	f.Fuzz(func(t *testing.T, s, key string) {
		b := []byte(s)
		Keys(b)
		Get(b, key)
		SetInLast(b, key, []byte("1"))
		Append(b, []byte("1"))
		for _, e := range Elements(b) {
			if json.Valid(b) && !json.Valid(e) {
				t.Fatalf("element %q of %q", e, b)
			}
		}
		set := Set(b, key, []byte("12345678901234567890"))
		if !IsObject(b) || !utf8.ValidString(key) {
			return
		}
		if !json.Valid(set) || string(Get(set, key)) != "12345678901234567890" {
			t.Fatalf("%q became %q", b, set)
		}
	})
}
