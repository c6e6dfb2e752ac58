package task

import (
	"time"

	"github.com/perdure/perdure/internal/command"
)

// Target names one command.
type Target struct{ Session, Act string }

// Seen is what LookAll found of one command.
type Seen struct {
	command.State
	Use Inspection // by what of it is left; zero if nothing is, or if it is just starting
	Err error      // about reading, never about the command
}

// Inspection is what the system says about a running command's processes at one moment. Where it says nothing, as on
// other systems than Linux, a field is zero.
type Inspection struct {
	PIDs  []int         `json:"pids"`      // the command and all that it started, sorted; the shim is not among them
	CPU   time.Duration `json:"cpu_ns"`    // that these, and those of their children that have ended, have used
	RSS   int64         `json:"rss_bytes"` // sum; pages that several share count for each
	PSS   int64         `json:"pss_bytes"` // sum; shared pages are divided. Of the first 32 processes
	Age   time.Duration `json:"age_ns"`    // since the command began
	Ports []int         `json:"ports"`     // TCP ports on which they listen, sorted
}
