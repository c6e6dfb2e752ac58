package task

import (
	"fmt"
	"slices"
	"time"

	"github.com/perdure/perdure/session"
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
	run, err := d.readRun()
	if err != nil {
		return Inspection{}, nil //nolint:nilerr // it is just starting
	}
	in := inspect(d.tree(run))
	in.Age = processAge(run)
	return in, nil
}

// tree finds the processes of a command from outside.
func (d actDir) tree(run runRecord) []int {
	if shim, ok := d.shim(); ok && shim.Adopted == 0 {
		return below(shim.PID)
	}
	var pids []int
	for _, p := range findTraces(d, run).living() {
		pids = append(pids, p.PID)
	}
	return pids
}

// inspect adds up what the processes use.
func inspect(pids []int) Inspection {
	in := Inspection{PIDs: pids, Ports: []int{}}
	slices.Sort(in.PIDs)
	const maxShares = 32 // this is the slow part
	sockets := map[uint64]bool{}
	for i, pid := range in.PIDs {
		cpu, rss := usage(pid)
		in.CPU, in.RSS = in.CPU+cpu, in.RSS+rss
		if i < maxShares {
			in.PSS += share(pid)
		}
		addSockets(pid, sockets)
	}
	if len(sockets) > 0 {
		in.Ports = append(in.Ports, listening(in.PIDs[0], sockets)...)
		slices.Sort(in.Ports)
		in.Ports = slices.Compact(in.Ports)
	}
	return in
}
