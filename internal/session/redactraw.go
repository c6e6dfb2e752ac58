package session

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/perdure/perdure/store"
)

// RedactRaw gives the body of an event with known values replaced in everything, sealed replies too: for a copy of a
// log that leaves the machine, whose hashes are others then. Where nothing was replaced it is the event's own body.
// What was replaced must not begin or end a string of JSON.
func RedactRaw(e store.Event, replace func([]byte) []byte) ([]byte, error) {
	if e.Codec != Codec1 || e.Body == nil {
		return e.Body, nil
	}
	head, parts, err := split(e.Body)
	if err != nil {
		return nil, fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
	}
	same := true
	replaced := func(text []byte) []byte {
		clean := replace(text)
		same = same && bytes.Equal(clean, text)
		return clean
	}
	head = replaced(head)
	size := len(head) + 2*binary.MaxVarintLen64
	for i := range parts {
		parts[i] = replaced(parts[i])
		size += len(parts[i]) + binary.MaxVarintLen64
	}
	if same { // large ones are not copied for nothing
		return e.Body, nil
	}
	out := append(binary.AppendUvarint(make([]byte, 0, size), uint64(len(head))), head...)
	out = binary.AppendUvarint(out, uint64(len(parts)))
	for i := range parts {
		out = binary.AppendUvarint(out, uint64(len(parts[i])))
	}
	for _, p := range parts {
		out = append(out, p...)
	}
	return out, nil
}
