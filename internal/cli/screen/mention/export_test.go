package mention

import "time"

// WalkFor is how long a directory is walked.
const WalkFor = walkFor

// GitFor lets git take so long.
func (l *FileList) GitFor(d time.Duration) { l.git = d }

// Kept is how many names are kept for the next question.
func (l *FileList) Kept() int { return len(l.names) }
