package session

import (
	"encoding/hex"
	"math"

	"github.com/perdure/perdure/store"
)

// quick is implemented by the bodies that make up most of a log: they read their own head from the form that
// encoding/json writes. It only saves time. What it does not expect, a new field, an escape, a byte that is not ASCII,
// it leaves to encoding/json, and the two give the same.
type quick interface {
	Body
	quick(h *head)
}

// head reads a JSON object without blanks. After a fault it gives zeros, ends every loop, and is odd.
type head struct {
	rest []byte
	odd  bool
}

// readQuick fills an empty body; false leaves it half filled.
func readQuick(b quick, text []byte) bool {
	h := head{rest: text}
	b.quick(&h)
	return !h.odd && len(h.rest) == 0
}

func (h *head) fail() { h.rest, h.odd = nil, true }

// eat takes c if it is next.
func (h *head) eat(c byte) bool {
	if len(h.rest) == 0 || h.rest[0] != c {
		return false
	}
	h.rest = h.rest[1:]
	return true
}

// word takes w if it is next.
func (h *head) word(w string) bool {
	if len(h.rest) < len(w) || string(h.rest[:len(w)]) != w {
		return false
	}
	h.rest = h.rest[len(w):]
	return true
}

// open begins an object and returns its first key, nil if there is none; next returns the one after a value.
func (h *head) open() []byte {
	if !h.eat('{') {
		h.fail()
		return nil
	}
	if h.eat('}') {
		return nil
	}
	return h.key()
}

func (h *head) next() []byte {
	switch {
	case h.eat(','):
		return h.key()
	case !h.eat('}'):
		h.fail()
	}
	return nil
}

func (h *head) key() []byte {
	k := h.bytes()
	if !h.eat(':') {
		h.fail()
		return nil
	}
	return k
}

// list begins an array and reports whether it has an element; more tells whether another one follows.
func (h *head) list() bool {
	if !h.eat('[') {
		h.fail()
		return false
	}
	return !h.eat(']')
}

func (h *head) more() bool {
	if h.eat(',') {
		return true
	}
	if !h.eat(']') {
		h.fail()
	}
	return false
}

// bytes is a plain text; it aliases the head.
func (h *head) bytes() []byte {
	if !h.eat('"') {
		h.fail()
		return nil
	}
	for i, c := range h.rest {
		switch {
		case c == '"':
			s := h.rest[:i]
			h.rest = h.rest[i+1:]
			return s
		case c == '\\' || c < ' ' || c >= 0x7f:
			h.fail()
			return nil
		}
	}
	h.fail()
	return nil
}

func (h *head) text() string { return string(h.bytes()) }

func (h *head) digest() (d store.Digest) {
	b := h.bytes()
	if len(b) == 0 {
		return d
	}
	if len(b) != hex.EncodedLen(len(d)) {
		h.fail()
		return store.Digest{}
	}
	if _, err := hex.Decode(d[:], b); err != nil {
		h.fail()
		return store.Digest{}
	}
	return d
}

func (h *head) boolean() bool {
	switch {
	case h.word("true"):
		return true
	case !h.word("false"):
		h.fail()
	}
	return false
}

// number is an integer of at most 18 digits, as encoding/json writes it.
func (h *head) number() int64 {
	sign := int64(1)
	if h.eat('-') {
		sign = -1
	}
	n, i := int64(0), 0
	for i < len(h.rest) && h.rest[i] >= '0' && h.rest[i] <= '9' {
		if i == 18 {
			h.fail()
			return 0
		}
		n = n*10 + int64(h.rest[i]-'0')
		i++
	}
	if i == 0 || i > 1 && h.rest[0] == '0' || i < len(h.rest) && (h.rest[i] == '.' || h.rest[i]|0x20 == 'e') {
		h.fail()
		return 0
	}
	h.rest = h.rest[i:]
	return sign * n
}

func (h *head) small() int {
	n := h.number()
	if n > math.MaxInt32 || n < math.MinInt32 {
		h.fail()
		return 0
	}
	return int(n)
}
