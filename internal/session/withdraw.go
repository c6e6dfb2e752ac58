package session

import (
	"fmt"
	"slices"

	"github.com/perdure/perdure/store"
)

// MessageWithdrawn takes a message back that waits for its turn: it will not have one.
type MessageWithdrawn struct {
	headOnly
	// Key is the inbox's idempotency key of the message, by which whoever sent it knows it. Seq, if not 0, is where it
	// stands in the log; the engine fills it in.
	Key string `json:"key,omitempty"`
	Seq int64  `json:"seq"`
}

func (b *MessageWithdrawn) summary() string { return fmt.Sprintf("message %d", b.Seq) }

func (b *MessageWithdrawn) apply(s *State, e store.Event) {
	n := len(s.Queue)
	s.Queue = slices.DeleteFunc(s.Queue, func(q Queued) bool { return q.Seq == b.Seq })
	if len(s.Queue) == n {
		s.fault(e, "message %d does not wait", b.Seq)
	}
}

func (b *MessageWithdrawn) speak(t *Transcript, _ store.Event) { delete(t.queued, b.Seq) }
