package sources

import (
	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/panels"
	"github.com/perdure/perdure/store"
)

// Short is a path as the pages call it.
var Short = short

// ChangeReader follows one file through a log.
type ChangeReader struct{ changeReader }

// NewChangeReader follows the file of a path.
func NewChangeReader(path string) *ChangeReader {
	return &ChangeReader{changeReader{path: path, calls: map[string]call{}, begun: map[string]call{}}}
}

// Take takes an event.
func (r *ChangeReader) Take(ev store.Event, body session.Body) { r.take(ev, body) }

// Changes are those that were found.
func (r *ChangeReader) Changes() []panels.Change { return r.changes }
