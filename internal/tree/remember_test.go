package tree

import (
	"bytes"
	"errors"
	"testing"

	"github.com/perdure/perdure/store"
)

type counted struct {
	objects map[store.Digest][]byte
	reads   int
}

func (c *counted) Get(d store.Digest) ([]byte, error) {
	c.reads++
	if b, ok := c.objects[d]; ok {
		return b, nil
	}
	return nil, errors.New("missing")
}

// Goal: an object is read once, the memory keeps its bound, and a failure is not remembered.
func TestRemember(t *testing.T) {
	c := &counted{objects: map[store.Digest][]byte{}}
	for i := range byte(10) {
		c.objects[store.Digest{i}] = bytes.Repeat([]byte{i}, 100)
	}
	r := Remember(c, 350)
	get := func(i byte) {
		t.Helper()
		if b, err := r.Get(store.Digest{i}); err != nil || !bytes.Equal(b, c.objects[store.Digest{i}]) {
			t.Fatal(b, err)
		}
	}
	for range 5 {
		get(1)
		get(2)
		get(3)
	}
	if c.reads != 3 {
		t.Errorf("%d reads of 3 objects", c.reads)
	}
	for i := range byte(10) {
		get(i)
		if n := r.(*memory).bytes; n > 350 || n != 100*len(r.(*memory).has) {
			t.Fatalf("it has %d bytes in %d objects", n, len(r.(*memory).has))
		}
	}
	large := store.Digest{99}
	if _, err := r.Get(large); err == nil {
		t.Error("no error")
	}
	c.objects[large] = make([]byte, 1000)
	for range 2 {
		get(99)
	}
	if c.reads < 15 {
		t.Errorf("%d reads: what is too large was kept", c.reads)
	}
}
