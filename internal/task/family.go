//go:build linux || darwin

package task

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// family is how a shim knows the processes that belong to its command.
type family interface {
	// reap collects what has ended. It returns how the command ended, nil while it runs, and whether anything is left.
	reap() (end *ending, left bool)
	// living returns every living process, the command included.
	living() []process
}

// ending is how a command ended.
type ending struct {
	status unix.WaitStatus
	lost   bool          // nobody can tell: shim and command died unseen
	cpu    time.Duration // that it used itself; 0 if unknown
}

// children is the family of the shim that started the command: as its parent, and the subreaper of all that the
// command started, a shim without children knows that the tree is gone.
type children struct {
	pid     int                          // the command
	standby int                          // a child of the shim that is none of the command's; 0: none
	timed   bool                         // its processor time is limited
	note    func(status unix.WaitStatus) // called before the command is reaped, where the system lets that be seen
	end     *ending
}

func (c *children) reap() (*ending, bool) {
	for {
		pid, status, left := nextDead()
		switch {
		case pid == 0:
			return c.end, left
		case pid == c.pid && c.end == nil:
			// From the moment it is reaped until exit.json is written the kernel could not tell anybody else.
			c.note(status)
			c.end = &ending{status: status}
			if c.timed {
				c.end.cpu = ownTime(pid)
			}

		}
		forgetDead(pid)
	}
}

func (c *children) living() []process {
	tree, err := descendants(unix.Getpid())
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(tree, func(p process) bool { return p.PID == c.standby })
}
