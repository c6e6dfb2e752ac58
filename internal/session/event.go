package session

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/perdure/perdure/store"
)

// Chain continues a log's hash chain. Its zero Head is the genesis; a fork starts at its parent's hash and seq 0.
type Chain struct {
	Session string
	Head    store.Head
}

// Event seals body as the next event of the log and moves the chain on. The caller appends it: a chain whose event
// could not be appended is stale and must be rebuilt from the store's head.
//
// Text in a body is UTF-8. What is not is stored with U+FFFD in its place, and body is changed to what is stored, so
// that a state that body is folded into is the state that the log gives. Bytes that matter belong into raw parts.
func (c *Chain) Event(actor store.Actor, ms int64, body Body) (store.Event, error) {
	kind := KindOf(body)
	encoded, err := Encode(body)
	if err != nil {
		return store.Event{}, fmt.Errorf("encode %s: %w", kind, err)
	}
	e := store.Event{
		Seq: c.Head.Seq + 1, Kind: kind, Time: ms, Flags: kinds[kind].flags, Actor: actor,
		Codec: Codec1, Digest: store.Sum(encoded), Body: encoded,
	}
	if bytes.Contains(encoded, []byte(`\ufffd`)) { // how encoding/json writes what is no UTF-8
		if err := adopt(body, e); err != nil {
			return store.Event{}, err
		}
	}
	e.Hash = store.Hash(c.Head.Hash, c.Session, e)
	c.Head = store.Head{Seq: e.Seq, Hash: e.Hash}
	return e, nil
}

// adopt makes body what a reader of the event will find.
func adopt(body Body, e store.Event) error {
	stored, err := Decode(e)
	if err != nil {
		return err
	}
	if reflect.TypeOf(stored) == reflect.TypeOf(body) {
		reflect.ValueOf(body).Elem().Set(reflect.ValueOf(stored).Elem())
	}
	return nil
}

// Verify checks that e is the log's next event, unchanged, and moves the chain on. Faults are returned as errors that
// name the seq. What a log lost at its end does not show: compare the head.
func (c *Chain) Verify(e store.Event) error {
	if e.Seq != c.Head.Seq+1 {
		return fmt.Errorf("event %d does not follow %d", e.Seq, c.Head.Seq)
	}
	if err := store.Verify(c.Head.Hash, c.Session, e); err != nil {
		return err
	}
	c.Head = store.Head{Seq: e.Seq, Hash: e.Hash}
	return nil
}
