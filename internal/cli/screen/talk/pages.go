package talk

import (
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/store"
)

// late is an event about a call that a fold does not know.
type late struct {
	ev   store.Event
	body session.Body
}
