package screen

import "time"

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
