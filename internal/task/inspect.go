package task

import (
	"fmt"
	"time"

	"github.com/perdure/perdure/internal/session"
)

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

// Inspect looks at the processes of a command, or of its stragglers. It is for people: it takes some milliseconds and
// changes nothing. Of a command that is over it returns the zero value.
func (r *Runner) Inspect(sessionID, act string) (Inspection, error) {
	d, err := r.act(sessionID, act)
	if err != nil {
		return Inspection{}, err
	}
	v, err := r.look(d)
	if err != nil {
		return Inspection{}, fmt.Errorf("inspect %s/%s: %w", sessionID, act, err)
	}
	if v.Reason == ReasonDirMissing {
		return Inspection{}, fmt.Errorf("inspect %s/%s: %w", sessionID, act, ErrMissing)
	}
	if v.Status != session.CommandRunning && v.Stragglers == 0 {
		return Inspection{}, nil
	}
	in := (&survey{}).inspect(d, v)
	const maxShares = 32 // this is the slow part
	for _, pid := range in.PIDs[:min(len(in.PIDs), maxShares)] {
		in.PSS += share(pid)
	}
	return in, nil
}
