// Package raw handles JSON without decoding it, so that bytes which a model API wrote stay the bytes it wrote.
//
// encoding/json would reorder keys, round numbers and change escapes. The functions here cut values out of a text,
// exchange or add a member, and leave every other byte as it is. They expect valid JSON (see json.Valid); on anything
// else they return nothing, and never panic.
package raw

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// member is one key of an object and where its value stands in the object's bytes.
type member struct {
	key        string
	start, end int
}

// members returns the members of an object in their order; nil when obj is no object or has none.
func members(obj []byte) []member {
	i := skipSpace(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return nil
	}
	var out []member
	for i = skipSpace(obj, i+1); i < len(obj) && obj[i] == '"'; {
		keyEnd := skipString(obj, i)
		key, ok := String(obj[i:keyEnd])
		colon := skipSpace(obj, keyEnd)
		if !ok || colon >= len(obj) || obj[colon] != ':' {
			return nil
		}
		start := skipSpace(obj, colon+1)
		end := skipValue(obj, start)
		if end == start {
			return nil
		}
		out = append(out, member{key, start, end})
		i = skipSpace(obj, end)
		if i < len(obj) && obj[i] == ',' {
			i = skipSpace(obj, i+1)
		}
	}
	return out
}

// find returns the last member with the key, as encoding/json would choose.
func find(obj []byte, key string) (member, bool) {
	ms := members(obj)
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].key == key {
			return ms[i], true
		}
	}
	return member{}, false
}

// Get returns the value of a key as it is spelled, or nil. It shares obj's memory.
func Get(obj []byte, key string) []byte {
	m, ok := find(obj, key)
	if !ok {
		return nil
	}
	return obj[m.start:m.end]
}

// GetString returns the decoded value of a key, or "" when it is missing or no string.
func GetString(obj []byte, key string) string {
	s, _ := String(Get(obj, key))
	return s
}

// Set returns obj with the value of key exchanged in its place, or added at the end. obj is not changed; when it is
// no object, it is returned as it is.
func Set(obj []byte, key string, value []byte) []byte {
	if m, ok := find(obj, key); ok {
		out := make([]byte, 0, len(obj)+len(value))
		out = append(out, obj[:m.start]...)
		out = append(out, value...)
		return append(out, obj[m.end:]...)
	}
	end := len(obj)
	for end > 0 && isSpace(obj[end-1]) {
		end--
	}
	if end == 0 || obj[end-1] != '}' {
		return obj
	}
	out := make([]byte, 0, len(obj)+len(key)+len(value)+4)
	out = append(out, obj[:end-1]...)
	if len(members(obj)) > 0 {
		out = append(out, ',')
	}
	out = AppendString(out, key)
	out = append(out, ':')
	out = append(out, value...)
	return append(out, obj[end-1:]...)
}

// Keys returns the keys of an object in their order.
func Keys(obj []byte) []string {
	ms := members(obj)
	out := make([]string, len(ms))
	for i, m := range ms {
		out[i] = m.key
	}
	return out
}

// Elements returns the elements of an array, as they are spelled; nil when arr is no array or has none. They share
// arr's memory.
func Elements(arr []byte) [][]byte {
	spans := elements(arr)
	if spans == nil {
		return nil
	}
	out := make([][]byte, len(spans))
	for i, s := range spans {
		out[i] = arr[s.start:s.end]
	}
	return out
}

// SetInLast returns arr with a member set in its last element, see [Set].
func SetInLast(arr []byte, key string, value []byte) []byte {
	spans := elements(arr)
	if len(spans) == 0 {
		return arr
	}
	last := spans[len(spans)-1]
	out := make([]byte, 0, len(arr)+len(key)+len(value)+8)
	out = append(out, arr[:last.start]...)
	out = append(out, Set(arr[last.start:last.end], key, value)...)
	return append(out, arr[last.end:]...)
}

// Append returns arr with value, one or more elements separated by commas, at its end; null counts as an empty array.
func Append(arr, value []byte) []byte {
	end := bytes.LastIndexByte(arr, ']')
	if end < 0 {
		return slices.Concat([]byte{'['}, value, []byte{']'})
	}
	comma := []byte{','}
	if len(elements(arr)) == 0 {
		comma = nil
	}
	return slices.Concat(arr[:end], comma, value, arr[end:])
}

type span struct{ start, end int }

func elements(arr []byte) []span {
	i := skipSpace(arr, 0)
	if i >= len(arr) || arr[i] != '[' {
		return nil
	}
	var out []span
	for i = skipSpace(arr, i+1); i < len(arr) && arr[i] != ']'; {
		end := skipValue(arr, i)
		if end == i {
			return nil
		}
		out = append(out, span{i, end})
		i = skipSpace(arr, end)
		if i < len(arr) && arr[i] == ',' {
			i = skipSpace(arr, i+1)
		}
	}
	return out
}

// IsObject reports whether b is one valid JSON object.
func IsObject(b []byte) bool {
	i := skipSpace(b, 0)
	return i < len(b) && b[i] == '{' && json.Valid(b)
}

// IsNull reports whether a member is missing or null.
func IsNull(v []byte) bool { return len(v) == 0 || string(v) == "null" }

// String decodes a JSON string.
func String(v []byte) (string, bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	if inner := v[1 : len(v)-1]; v[len(v)-1] == '"' && plain(inner) {
		return string(inner), true
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return "", false
	}
	return s, true
}

// plain reports whether a string is spelled as it reads, as nearly all keys are.
func plain(inner []byte) bool {
	for _, c := range inner {
		if c < 0x20 || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// Inner returns what stands between the quotes of a JSON string, escapes and all. Inner parts of several strings put
// one after the other are the inner part of the joined string: this joins fragments without decoding them, even where
// a pair of surrogate escapes was cut in two.
func Inner(v []byte) ([]byte, bool) {
	if len(v) < 2 || v[0] != '"' || v[len(v)-1] != '"' {
		return nil, false
	}
	return v[1 : len(v)-1], true
}

// Quote puts quotes around an inner part.
func Quote(inner []byte) []byte {
	out := make([]byte, 0, len(inner)+2)
	out = append(out, '"')
	out = append(out, inner...)
	return append(out, '"')
}

// Int reads a count: a JSON number that may be written with a fraction or an exponent. Anything else, and what is
// negative or too large to be a count of tokens, is 0.
func Int(v []byte) int64 {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(string(v), 64)
		if err != nil || math.IsNaN(f) || f > maxCount {
			return 0
		}
		n = int64(f)
	}
	if n < 0 || n > maxCount {
		return 0
	}
	return n
}

// maxCount bounds token counts so that sums and prices of them can't overflow.
const maxCount = 1 << 40

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Only what JSON demands is escaped; bytes that are not UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[from:i]...), "\ufffd"...)
				from = i + 1
			}
			i += n
			continue
		}
		if c >= 0x20 && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// skipString returns the position after the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// skipValue returns the position after the value that begins at i, or i when none does.
func skipValue(b []byte, i int) int {
	depth := 0
	for j := i; j < len(b); {
		switch b[j] {
		case '"':
			j = skipString(b, j)
			if depth == 0 {
				return j
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return j
			}
			if depth--; depth == 0 {
				return j + 1
			}
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return j
			}
		}
		j++
	}
	return len(b)
}
