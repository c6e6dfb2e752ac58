package store

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/zeebo/blake3"
)

// Event is one immutable entry of a log: the envelope, and the encoded body that its digest covers.
type Event struct {
	Seq    int64  // dense position in its log, from 1
	Kind   Kind   // what happened
	Time   int64  // milliseconds since the Unix epoch, UTC; never used for ordering
	Flags  Flags  // see [Critical]
	Actor  Actor  // who caused it
	Codec  uint8  // encoding of Body; a store carries it
	Digest Digest // BLAKE3 of Body as first appended; it never changes
	Hash   Digest // chains this event to the one before it; see [Hash]
	Body   []byte // encoded body; nil when it was erased, which still verifies
}

// Flags qualify an event.
type Flags uint8

// Critical marks an event that a reader must understand: a version that does not know its kind opens the session
// read-only.
const Critical Flags = 1

// Actor says who caused an event.
type Actor struct {
	Type ActorType `json:"type"`
	ID   string    `json:"id,omitempty"` // for example a user name, a model, a tool
}

// ActorType is one of the five causes of events.
type ActorType string

// The causes of events.
const (
	ActorUser   ActorType = "user"
	ActorModel  ActorType = "model"
	ActorTool   ActorType = "tool"
	ActorEngine ActorType = "engine"
	ActorImport ActorType = "import"
)

// Head is the newest position of a log and the hash that commits to everything before it.
type Head struct {
	Seq  int64  `json:"seq"`
	Hash Digest `json:"hash"`
}

// Kind names what an event says happened, as in tool.finished. A store carries kinds that it does not know.
type Kind string

// Position is a place in a log. As a fork point, Hash is the parent's hash at Seq; at seq 0, which is before its first
// event, the hash that its own log begins at: zero, or that of its own fork point.
type Position struct {
	Session string `json:"id"`
	Seq     int64  `json:"seq"`
	Hash    Digest `json:"hash"`
}

// Hash computes the chained hash of e: BLAKE3 in derive-key mode over the length-prefixed envelope fields. The body
// enters by its digest alone, so that an erased body still verifies.
func Hash(prev Digest, sessionID string, e Event) Digest {
	buf := make([]byte, 0, 256)
	field := func(b []byte) {
		buf = binary.AppendUvarint(buf, uint64(len(b)))
		buf = append(buf, b...)
	}
	number := func(n int64) {
		buf = append(buf, 8)
		buf = binary.BigEndian.AppendUint64(buf, uint64(n))
	}
	field(prev[:])
	field([]byte(sessionID))
	number(e.Seq)
	field([]byte(e.Kind))
	number(e.Time)
	field([]byte{byte(e.Flags)})
	field([]byte(e.Actor.Type))
	field([]byte(e.Actor.ID))
	field([]byte{e.Codec})
	field(e.Digest[:])
	h := hashers.Get().(*blake3.Hasher)
	defer hashers.Put(h)
	h.Reset()
	_, _ = h.Write(buf)
	var d Digest
	h.Sum(d[:0])
	return d
}

// hashers keeps hashers whose key is derived already: deriving it costs more than hashing an envelope.
var hashers = sync.Pool{New: func() any { return blake3.NewDeriveKey("perdure event v1") }}

// Verify checks one event against the hash before it. Faults are returned as errors that name the seq.
func Verify(prev Digest, sessionID string, e Event) error {
	if e.Body != nil && Sum(e.Body) != e.Digest {
		return fmt.Errorf("event %d: body does not match its digest", e.Seq)
	}
	if Hash(prev, sessionID, e) != e.Hash {
		return fmt.Errorf("event %d: hash does not follow from the event before it", e.Seq)
	}
	return nil
}
