//go:build linux || darwin

package task

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/command"
)

const (
	// killPatience is how long, beyond the grace, a shim may take to end its tree before Kill helps from outside.
	killPatience = 3 * time.Second
	// killLimit bounds the whole Kill beyond the grace.
	killLimit = 12 * time.Second
)

// Kill ends the command and everything it started, and returns when nothing of it is left. The intent is durable
// before the first signal, and the first intent stays: by names the killer in command.State.By. The process group gets
// SIGTERM and the Runner's Grace, then every descendant gets SIGKILL, those that left the group or the session
// included. An act that nobody claimed is made void; of a command that is gone nothing is signalled. ErrStillAlive
// means that something refuses to die, such as a process of another user.
func (r *Runner) Kill(ctx context.Context, sessionID, act, by string) error {
	d, err := r.act(sessionID, act)
	if err != nil {
		return err
	}
	if err := r.kill(ctx, d, by); err != nil {
		return fmt.Errorf("kill %s/%s: %w", sessionID, act, err)
	}
	return nil
}

func (r *Runner) kill(ctx context.Context, d actDir, by string) error {
	v, err := r.settle(ctx, d)
	if err != nil {
		return err
	}
	if v.Reason == command.ReasonDirMissing {
		return ErrMissing
	}
	const rounds = 8 // a shim may die instead of doing its work, and so may its replacement
	for round := range rounds {
		if !v.held && !v.orphan {
			return nil
		}
		if round == 0 {
			if err := d.recordIntent(by, r.nowMS(), r.grace()); err != nil {
				return err
			}
			r.fault("intent")
		}
		switch {
		case v.held:
			err = r.killByShim(ctx, d)
		case round < rounds/2 && r.adopt(ctx, d, nil) == nil: // the new shim finds the intent
		default:
			err = r.killOrphan(ctx, d)
		}
		if err != nil {
			return err
		}
		if v, err = r.look(d); err != nil {
			return err
		}
		if v.orphan && round > rounds/2 {
			return nil // nothing is left, and there is nobody to write it down
		}
	}
	return ErrStillAlive
}

// killByShim asks the shim, which knows its tree best, and helps from outside when the shim does not get it done. It
// returns when the shim is gone or nobody can tell; the caller looks again.
func (r *Runner) killByShim(ctx context.Context, d actDir) error {
	start := systemNow()
	asked := false
	for wait := newPoller(ctx); d.locked(); {
		if shim, ok := d.shim(); ok {
			if !asked {
				// SIGCONT wakes a shim that somebody stopped.
				asked = signalProcess(shim.PID, shim.Ticks, unix.SIGUSR1, unix.SIGCONT)
			}
			if systemNow().Sub(start) > r.grace()+killPatience {
				d.killFromOutside(shim)
			}
		}
		if systemNow().Sub(start) > r.grace()+killLimit {
			return ErrStillAlive
		}
		if err := wait.next(); err != nil {
			return err
		}
	}
	return nil
}

// killOrphan ends what is left of a command without a shim, when no new shim can be started.
func (r *Runner) killOrphan(ctx context.Context, d actDir) error {
	run, err := d.readRun()
	if err != nil {
		return err
	}
	tree := findTraces(d, run)
	start, asked := systemNow(), map[int]bool{}
	for wait := newPoller(ctx); ; {
		doomed, group := tree.living(), 0
		if len(doomed) == 0 {
			return nil
		}
		for _, p := range doomed {
			if p.PGID != run.PID {
				continue
			}
			if group++; !asked[p.PID] {
				asked[p.PID] = signalProcess(p.PID, p.Ticks, unix.SIGTERM, unix.SIGCONT)
			}
		}
		late := systemNow().Sub(start)
		if group == 0 || late > r.grace() {
			killAll(doomed)
		}
		if late > r.grace()+killLimit {
			return ErrStillAlive
		}
		if err := wait.next(); err != nil {
			return err
		}
	}
}

// killFromOutside sends SIGKILL once to all that a shim should have ended.
func (d actDir) killFromOutside(shim shimRecord) {
	if shim.Adopted == 0 {
		if tree, err := descendants(shim.PID); err == nil {
			killAll(slices.DeleteFunc(tree, func(p process) bool { return p.PID == shim.Standby }))
		}
		return
	}
	if run, err := d.readRun(); err == nil {
		killAll(findTraces(d, run).living())
	}
}
