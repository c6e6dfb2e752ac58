// Package redact replaces known secrets by their names, one way, where text enters the model and the log.
//
// A [Set] is built from named values. Replacing works on whole texts; a value that a text shows only in part, or
// encoded, is not found: this is a filter, no guarantee. Who reads a stream in pieces keeps back what Partial says.
package redact

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// minSecret is the shortest value, in bytes, that is looked for: shorter ones would hit ordinary words.
const minSecret = 8

// Set is a list of secrets. Its zero value replaces nothing. It is safe for concurrent use.
type Set struct {
	secrets []secret
}

type secret struct{ value, label []byte }

// maxLines bounds the lines of one value that are looked for by themselves.
const maxLines = 4096

// New makes a set from names and values. Values under 8 bytes are left out. Of a value of several lines each line of 8
// bytes or more is looked for by itself too: a listing has numbers between them.
func New(values map[string]string) *Set {
	s := &Set{}
	for name, v := range values {
		label := []byte("[secret:" + name + "]")
		for _, part := range parts(v) {
			s.secrets = append(s.secrets, secret{value: []byte(part), label: label})
		}
	}
	// The longest first, so that a secret within another does not leave the rest of it standing; then by name, so
	// that equal values always get the same name.
	slices.SortFunc(s.secrets, func(a, b secret) int {
		return cmp.Or(cmp.Compare(len(b.value), len(a.value)), bytes.Compare(a.label, b.label))
	})
	return s
}

// parts are the value and its lines. The lines around a key in PEM form are the same in every key.
func parts(v string) (out []string) {
	if len(v) >= minSecret {
		out = append(out, v)
	}
	lines := strings.Split(v, "\n")
	if len(lines) == 1 {
		return out
	}
	for _, line := range lines[:min(len(lines), maxLines)] {
		line = strings.TrimSpace(line)
		if len(line) >= minSecret && !strings.HasPrefix(line, "-----") && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

// Replace returns b with every known value replaced. It returns b itself if there is none.
func (s *Set) Replace(b []byte) []byte {
	if s == nil {
		return b
	}
	for _, x := range s.secrets {
		if bytes.Contains(b, x.value) {
			b = bytes.ReplaceAll(b, x.value, x.label)
		}
	}
	return b
}

// Partial is how many bytes at the end of b may be the beginning of a known value.
func (s *Set) Partial(b []byte) (n int) {
	if s == nil {
		return 0
	}
	for _, x := range s.secrets {
		for k := min(len(x.value)-1, len(b)); k > n; k-- {
			if bytes.HasSuffix(b, x.value[:k]) {
				n = k
			}
		}
	}
	return n
}

// Torn is how many bytes at the beginning of b may be the end of a known value: of a text that was cut, they are not
// shown.
func (s *Set) Torn(b []byte) (n int) {
	if s == nil {
		return 0
	}
	for _, x := range s.secrets {
		for k := min(len(x.value)-1, len(b)); k > n; k-- {
			if bytes.HasPrefix(b, x.value[len(x.value)-k:]) {
				n = k
			}
		}
	}
	return n
}

// Lost gives the name of a value that old has more often than content does, while content has its name: who knew only
// the name is about to write it over the value. It is "" if there is none.
func (s *Set) Lost(old, content []byte) string {
	if s == nil {
		return ""
	}
	for _, x := range s.secrets {
		if bytes.Count(content, x.label) > bytes.Count(old, x.label) && bytes.Count(content, x.value) < bytes.Count(old, x.value) {
			return string(x.label)
		}
	}
	return ""
}
