package modeltest

import (
	"bytes"
	"encoding/json"
)

// The functions of this file cut valid JSON into pieces without decoding it, so
// that what is compared are the bytes that the client sent. They trust their
// input: callers check json.Valid once for the whole body.

// A member is one key of an object with its value, both as spelled.
type member struct {
	key        string
	start, end int // from the key's quote to the end of the value
	value      []byte
	valueStart int
}

// members returns the members of an object in their order, or nil when obj is
// not an object.
func members(obj []byte) []member {
	i := skipSpace(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return nil
	}
	var out []member
	i = skipSpace(obj, i+1)
	for i < len(obj) && obj[i] == '"' {
		m := member{start: i}
		keyEnd := skipValue(obj, i)
		m.key = decodeString(obj[i:keyEnd])
		i = skipSpace(obj, keyEnd)
		m.valueStart = skipSpace(obj, i+1)
		m.end = skipValue(obj, m.valueStart)
		m.value = obj[m.valueStart:m.end]
		out = append(out, m)
		i = skipSpace(obj, m.end)
		if i < len(obj) && obj[i] == ',' {
			i = skipSpace(obj, i+1)
		}
	}
	return out
}

// elements returns the elements of an array, or nil when arr is not an array.
func elements(arr []byte) [][]byte {
	i := skipSpace(arr, 0)
	if i >= len(arr) || arr[i] != '[' {
		return nil
	}
	var out [][]byte
	i = skipSpace(arr, i+1)
	for i < len(arr) && arr[i] != ']' {
		end := skipValue(arr, i)
		out = append(out, arr[i:end])
		i = skipSpace(arr, end)
		if i < len(arr) && arr[i] == ',' {
			i = skipSpace(arr, i+1)
		}
	}
	return out
}

// field returns the value of a key, or nil.
func field(obj []byte, key string) []byte {
	for _, m := range members(obj) {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// stringField returns a string member decoded, and whether it is a string.
func stringField(obj []byte, key string) (string, bool) {
	v := field(obj, key)
	if len(v) == 0 || v[0] != '"' {
		return "", false
	}
	return decodeString(v), true
}

// removeMember returns obj without the named member and its comma; all other
// bytes stay. The input is not changed.
func removeMember(obj []byte, key string) []byte {
	ms := members(obj)
	for n, m := range ms {
		if m.key != key {
			continue
		}
		from, to := m.start, m.end
		switch {
		case n+1 < len(ms):
			to = ms[n+1].start
		case n > 0:
			from = ms[n-1].end
		}
		out := make([]byte, 0, len(obj)-(to-from))
		out = append(out, obj[:from]...)
		return append(out, obj[to:]...)
	}
	return obj
}

// replaceMember returns obj with the value of key exchanged, if key is there.
func replaceMember(obj []byte, key string, value []byte) []byte {
	for _, m := range members(obj) {
		if m.key != key {
			continue
		}
		out := make([]byte, 0, len(obj)-len(m.value)+len(value))
		out = append(out, obj[:m.valueStart]...)
		out = append(out, value...)
		return append(out, obj[m.end:]...)
	}
	return obj
}

// mapElements returns arr with each element replaced by f of it; what stands
// between the elements stays. A value that is no array comes back as it is.
func mapElements(arr []byte, f func([]byte) []byte) []byte {
	es := elements(arr)
	if len(es) == 0 {
		return arr
	}
	out := make([]byte, 0, len(arr))
	i := skipSpace(arr, 0) + 1
	out = append(out, arr[:i]...)
	for _, e := range es {
		start := i
		for arr[start] == ',' || isSpace(arr[start]) {
			start++
		}
		out = append(out, arr[i:start]...)
		out = append(out, f(e)...)
		i = start + len(e)
	}
	return append(out, arr[i:]...)
}

// sameJSON compares two values: objects by key whatever the order, strings by
// what they decode to, everything else by its bytes without outer whitespace.
func sameJSON(a, b []byte) bool {
	a, b = bytes.TrimSpace(a), bytes.TrimSpace(b)
	if len(a) == 0 || len(b) == 0 || a[0] != b[0] {
		return bytes.Equal(a, b)
	}
	switch a[0] {
	case '{':
		ma, mb := members(a), members(b)
		if len(ma) != len(mb) {
			return false
		}
		for _, m := range ma {
			if v := field(b, m.key); v == nil || !sameJSON(m.value, v) {
				return false
			}
		}
		return true
	case '[':
		ea, eb := elements(a), elements(b)
		if len(ea) != len(eb) {
			return false
		}
		for i := range ea {
			if !sameJSON(ea[i], eb[i]) {
				return false
			}
		}
		return true
	case '"':
		return decodeString(a) == decodeString(b)
	}
	return bytes.Equal(a, b)
}

func decodeString(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// skipValue returns the position just after the value that starts at i.
func skipValue(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = skipString(b, i) - 1
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return i
}
