package redact

import "bytes"

// shape is what the keys of one kind look like: a beginning that nothing else has, and then so many characters.
type shape struct {
	begins string
	least  int  // characters after it
	exact  bool // no more than least
	more   string
	mixed  bool // a run of 16 letters and digits with a digit in it: words joined by dashes have none
}

// shapes are the well-known ones. Letters and digits are always taken, and what more has.
var shapes = [...]shape{
	{begins: "sk-", least: 20, more: "-_", mixed: true},
	{begins: "sk_live_", least: 20},
	{begins: "rk_live_", least: 20},
	{begins: "ghp_", least: 36},
	{begins: "gho_", least: 36},
	{begins: "ghu_", least: 36},
	{begins: "ghs_", least: 36},
	{begins: "ghr_", least: 36},
	{begins: "github_pat_", least: 40, more: "_"},
	{begins: "glpat-", least: 20, more: "-_"},
	{begins: "xoxb-", least: 20, more: "-"},
	{begins: "xoxp-", least: 20, more: "-"},
	{begins: "xoxa-", least: 20, more: "-"},
	{begins: "xoxs-", least: 20, more: "-"},
	{begins: "AKIA", least: 16, exact: true},
	{begins: "ASIA", least: 16, exact: true},
	{begins: "AIza", least: 35, exact: true, more: "-_"},
	{begins: "npm_", least: 36, exact: true},
	{begins: "hf_", least: 30},
}

// Shaped stands in the place of what looks like a key.
const Shaped = "[secret:looks like a key]"

// maxBlock bounds a private key between its two lines, in bytes.
const maxBlock = 64 << 10

// Shapes replaces what has the shape of a well-known key or is a private key in PEM form, and counts it. It knows no
// values: a key of another shape stays, and one that somebody made up goes.
func Shapes(b []byte) (out []byte, n int) {
	last := 0
	for i := 0; i < len(b); i++ {
		length := 0
		switch {
		case b[i] == '-':
			length = privateKey(b[i:])
		case i > 0 && word(b[i-1]):
		default:
			length = keyAt(b[i:])
		}
		if length == 0 {
			continue
		}
		out = append(append(out, b[last:i]...), Shaped...)
		n++
		last = i + length
		i = last - 1
	}
	if n == 0 {
		return b, 0
	}
	return append(out, b[last:]...), n
}

func word(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// keyAt is how long the key is that b begins with; 0: none.
func keyAt(b []byte) int {
	switch b[0] {
	case 's', 'r', 'g', 'x', 'A', 'n', 'h':
	case 'e':
		return webToken(b)
	default:
		return 0
	}
	for i := range shapes {
		s := &shapes[i]
		if s.begins[0] != b[0] || !bytes.HasPrefix(b, []byte(s.begins)) {
			continue
		}
		n := len(s.begins)
		for n < len(b) && (word(b[n]) && b[n] != '_' || bytes.IndexByte([]byte(s.more), b[n]) >= 0) {
			n++
		}
		rest := b[len(s.begins):n]
		switch {
		case len(rest) < s.least, s.exact && len(rest) > s.least, n < len(b) && word(b[n]):
		case s.begins[0] == 'A' && s.more == "" && !upper(rest):
		case s.mixed && !random(rest):
		default:
			return n
		}
	}
	return 0
}

func upper(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r >= 'a' && r <= 'z' }) < 0
}

// random reports a run of 16 letters and digits that has a digit in it.
func random(b []byte) bool {
	run, digit := 0, false
	for _, c := range b {
		if c == '-' || c == '_' {
			run, digit = 0, false
			continue
		}
		run++
		digit = digit || c <= '9'
		if run >= 16 && digit {
			return true
		}
	}
	return false
}

// webToken is how long the signed JSON web token is that b begins with; 0: none.
func webToken(b []byte) int {
	n := 0
	for part := range 3 {
		if part < 2 && !bytes.HasPrefix(b[n:], []byte("eyJ")) {
			return 0
		}
		from := n
		for n < len(b) && (word(b[n]) || b[n] == '-') {
			n++
		}
		if n-from < 10 {
			return 0
		}
		if part < 2 {
			if n >= len(b) || b[n] != '.' {
				return 0
			}
			n++
		}
	}
	return n
}

// privateKey is how long the private key in PEM form is that b begins with; 0: none. One whose last line is missing
// goes as far as its lines do.
func privateKey(b []byte) int {
	if !bytes.HasPrefix(b, []byte("-----BEGIN ")) {
		return 0
	}
	b = b[:min(len(b), maxBlock)]
	line, _, _ := bytes.Cut(b, []byte("\n"))
	if !bytes.Contains(line[:min(len(line), 64)], []byte("PRIVATE KEY-----")) {
		return 0
	}
	if end := bytes.Index(b, []byte("-----END ")); end >= 0 {
		if stop := bytes.Index(b[end+9:], []byte("-----")); stop >= 0 {
			return end + 9 + stop + 5
		}
		return len(b)
	}
	n := len(line)
	for n < len(b) {
		next, _, _ := bytes.Cut(b[n+1:], []byte("\n"))
		if text := bytes.TrimSpace(next); len(text) == 0 || bytes.ContainsAny(text, " \t") && !bytes.Contains(text, []byte(": ")) {
			break
		}
		n += 1 + len(next)
	}
	return min(n, len(b))
}

// Count is how many times a known value stands in b.
func (s *Set) Count(b []byte) (n int) {
	if s == nil {
		return 0
	}
	for _, x := range s.secrets {
		if m := bytes.Count(b, x.value); m > 0 {
			n += m
			b = bytes.ReplaceAll(b, x.value, x.label)
		}
	}
	return n
}
