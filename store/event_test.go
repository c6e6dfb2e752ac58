package store_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/blake3"

	"github.com/perdure/perdure/store"
)

func event() store.Event {
	e := store.Event{
		Seq: 7, Kind: "tool.finished", Time: 1_700_000_000_123, Flags: store.Critical, Actor: store.Actor{Type: store.ActorTool, ID: "bash"},
		Codec: 1, Body: []byte(`{"ok":true}`),
	}
	e.Digest = store.Sum(e.Body)
	return e
}

// Goal: the hash of an event is what docs/format.md says, byte for byte, so that another program can check a log.
func TestHash(t *testing.T) {
	prev, e := store.Sum([]byte("before")), event()
	var fields []byte
	add := func(b []byte) { fields = append(binary.AppendUvarint(fields, uint64(len(b))), b...) }
	number := func(n int64) { add(binary.BigEndian.AppendUint64(nil, uint64(n))) }
	id := strings.Repeat("s", 200) // whose length takes two bytes
	add(prev[:])
	add([]byte(id))
	number(e.Seq)
	add([]byte(e.Kind))
	number(e.Time)
	add([]byte{byte(e.Flags)})
	add([]byte(e.Actor.Type))
	add([]byte(e.Actor.ID))
	add([]byte{e.Codec})
	add(e.Digest[:])
	h := blake3.NewDeriveKey("perdure event v1")
	_, _ = h.Write(fields)
	want := h.Sum(nil)
	for range 3 { // also with what an earlier call has left
		if got := store.Hash(prev, id, e); !bytes.Equal(got[:], want) {
			t.Errorf("hash %x, want %x", got, want)
		}
	}
	const known = "304eddbead1acee2603e0b95f0ffe3096f373cb6445f9b4b5bd1719e7e640913"
	if got := store.Hash(prev, "s", e).String(); got != known {
		t.Errorf("hash %s, in all versions %s", got, known)
	}
}

// Goal: whatever is changed of an event or of its place, its hash does not verify any more; that its body was erased is no
// change.
func TestVerify(t *testing.T) {
	prev := store.Sum([]byte("before"))
	sealed := event()
	sealed.Hash = store.Hash(prev, "s", sealed)
	if err := store.Verify(prev, "s", sealed); err != nil {
		t.Error(err)
	}
	erased := sealed
	erased.Body = nil
	if err := store.Verify(prev, "s", erased); err != nil {
		t.Errorf("erased: %v", err)
	}
	for name, change := range map[string]func(e *store.Event){
		"seq": func(e *store.Event) { e.Seq++ }, "kind": func(e *store.Event) { e.Kind += "x" }, "time": func(e *store.Event) { e.Time-- },
		"flags": func(e *store.Event) { e.Flags = 0 }, "who": func(e *store.Event) { e.Actor.Type = store.ActorUser },
		"whose id": func(e *store.Event) { e.Actor.ID = "" }, "codec": func(e *store.Event) { e.Codec++ },
		"a byte moved from one field to the next": func(e *store.Event) { e.Actor.Type, e.Actor.ID = "too", "lbash" },
		"digest": func(e *store.Event) { e.Digest[31] ^= 1 }, "hash": func(e *store.Event) { e.Hash[0] ^= 1 },
		"body": func(e *store.Event) { e.Body = []byte(`{"ok":false}`) }, "an empty body": func(e *store.Event) { e.Body = []byte{} },
		"body and digest": func(e *store.Event) { e.Body = []byte("x"); e.Digest = store.Sum(e.Body) },
	} {
		e := sealed
		e.Body = slices.Clone(e.Body)
		change(&e)
		if err := store.Verify(prev, "s", e); err == nil || !strings.Contains(err.Error(), fmt.Sprint("event ", e.Seq, ":")) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if store.Verify(prev, "t", sealed) == nil || store.Verify(store.Digest{}, "s", sealed) == nil {
		t.Error("it verifies in another place")
	}
}

// Goal: what a program may share keeps its room in every version.
func TestMaxShared(t *testing.T) {
	if store.MaxShared != 1_048_576 {
		t.Errorf("a scope has %d bytes", store.MaxShared)
	}
}
