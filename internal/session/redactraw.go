package session

import (
	"encoding/binary"
	"fmt"

	"github.com/perdure/perdure/store"
)

// RedactRaw gives the body of an event with known values replaced in everything, sealed replies too: for a copy of a log
// that leaves the machine, whose hashes are others then. What was replaced must not begin or end a string of JSON.
func RedactRaw(e store.Event, replace func([]byte) []byte) ([]byte, error) {
	if e.Codec != Codec1 || e.Body == nil {
		return e.Body, nil
	}
	head, parts, err := split(e.Body)
	if err != nil {
		return nil, fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
	}
	head = replace(head)
	out := append(binary.AppendUvarint(nil, uint64(len(head))), head...)
	out = binary.AppendUvarint(out, uint64(len(parts)))
	for i := range parts {
		parts[i] = replace(parts[i])
		out = binary.AppendUvarint(out, uint64(len(parts[i])))
	}
	for _, p := range parts {
		out = append(out, p...)
	}
	return out, nil
}
