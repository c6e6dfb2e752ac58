//go:build linux || darwin

package task

import (
	"fmt"

	"github.com/perdure/perdure/internal/command"
)

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
	if v.Reason == command.ReasonDirMissing {
		return Inspection{}, fmt.Errorf("inspect %s/%s: %w", sessionID, act, ErrMissing)
	}
	if v.Status != command.Running && v.Stragglers == 0 {
		return Inspection{}, nil
	}
	in := (&survey{}).inspect(d, v)
	const maxShares = 32 // this is the slow part
	for _, pid := range in.PIDs[:min(len(in.PIDs), maxShares)] {
		in.PSS += share(pid)
	}
	return in, nil
}
