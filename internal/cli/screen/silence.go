package screen

import (
	"fmt"
	"os"
	"time"

	"github.com/perdure/perdure/internal/cli/process"
	"github.com/perdure/perdure/internal/plain"
	"github.com/perdure/perdure/store"
)

// silentAfter is how long a holder may leave what was sent to it until it counts as one that does not answer. A healthy one
// looks many times a second.
const silentAfter = 6 * time.Second

// silence watches whether the holder of a session answers.
type silence struct {
	holder string // whom it is about
	mark   int64  // how far that one has read what was sent
	since  time.Time
}

// look says how a holder does not answer; empty: it does, as far as one can tell.
func (s *silence) look(info store.Info, now time.Time) string {
	h := info.Holder
	if s.since.IsZero() || h.ID != s.holder || info.Mark != s.mark || info.Pending == 0 {
		*s = silence{h.ID, info.Mark, now}
	}
	switch still := now.Sub(s.since); {
	case stands(h):
		return "is stopped and does not answer"
	case still >= silentAfter:
		return fmt.Sprintf("has not answered for %s", plain.Span(still))
	}
	return ""
}

// stands reports whether a holder is a process of this machine that was stopped by a signal.
func stands(h *store.Holder) bool {
	host, err := os.Hostname()
	return err == nil && host == h.Host && h.Alive == store.Alive && process.Stopped(h.PID)
}
