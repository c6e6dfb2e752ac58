package screen

import (
	"time"

	"github.com/perdure/perdure/internal/session"
	"github.com/perdure/perdure/internal/ui/panels"
	"github.com/perdure/perdure/store"
)

// What the tests see of this room besides what it exports.
var (
	NewAsks       = newAsks
	PlanSource    = planSource
	ContextSource = contextSource
	FilesSource   = filesSource
	CostSource    = costSource
	Short         = short
)

// MaxPrompt is how long a message is at most that the history offers; WalkFor is how long a directory is walked.
const (
	MaxPrompt = maxPrompt
	WalkFor   = walkFor
)

// GitFor lets git take so long.
func (l *FileList) GitFor(d time.Duration) { l.git = d }

// Kept is how many names are kept for the next question.
func (l *FileList) Kept() int { return len(l.names) }

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
