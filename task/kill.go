package task

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/session"
)

const (
	// killPatience is how long, beyond the grace, a shim may take to end its tree before Kill helps from outside.
	killPatience = 3 * time.Second
	// killLimit bounds the whole Kill beyond the grace.
	killLimit = 12 * time.Second
)

// Kill ends the command and everything it started, and returns when nothing of it is left. The intent is durable
// before the first signal, and the first intent stays: by names the killer in CommandState.By. The process group gets
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
	st, err := r.settle(d)
	if err != nil {
		return err
	}
	if st.Reason == ReasonDirMissing {
		return ErrMissing
	}
	for asked := false; ; asked = true {
		held, err := d.held()
		if err != nil || !held && st.Status != session.CommandRunning {
			return err
		}
		if !asked {
			if err := d.recordIntent(by, r.nowMS(), r.grace()); err != nil {
				return err
			}
			r.fault("intent")
		}
		if held {
			err = r.killByShim(ctx, d)
		} else {
			err = r.killOrphan(ctx, d, st)
		}
		if err != nil {
			return err
		}
		// The shim may have died instead of doing its work.
		if st, _, err = r.look(d); err != nil {
			return err
		}
	}
}

// recordIntent makes the wish durable before any signal. An earlier intent stays: it is what ended the command.
func (d actDir) recordIntent(by string, now int64, grace time.Duration) error {
	if d.killedBy() != "" {
		return nil
	}
	if by == "" {
		by = "unknown"
	}
	rec := intentRecord{Version: formatVersion, By: by[:min(len(by), maxBy)], Time: now, GraceMS: grace.Milliseconds()}
	text, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	err = overwrite(d.path(intentName), text, true)
	if missing(err) {
		err = replaceFile(d.path(intentName), text, true)
	}
	return err
}

// maxBy bounds the name of a killer, in bytes.
const maxBy = 64

// killByShim asks the shim, which knows its tree best, and helps from outside when the shim does not get it done.
func (r *Runner) killByShim(ctx context.Context, d actDir) error {
	start := systemNow()
	asked := false
	for wait := newPoller(ctx); ; {
		held, err := d.held()
		if err != nil || !held {
			return err
		}
		if shim, ok := d.shim(); ok {
			if !asked {
				// SIGCONT wakes a shim that somebody stopped.
				asked = signalProcess(shim.PID, shim.Ticks, unix.SIGUSR1, unix.SIGCONT)
			}
			if systemNow().Sub(start) > r.grace()+killPatience {
				killDescendants(shim.PID)
			}
		}
		if systemNow().Sub(start) > r.grace()+killLimit {
			return ErrStillAlive
		}
		if err := wait.next(); err != nil {
			return err
		}
	}
}

// killOrphan ends a command whose shim is dead: its own session and its descendants. As long as the command lives no
// other session can have its number.
func (r *Runner) killOrphan(ctx context.Context, d actDir, st session.CommandState) error {
	run, err := d.readRun()
	if err != nil {
		return err
	}
	start := systemNow()
	doomed := map[int]process{}
	for wait, first := newPoller(ctx), true; ; first = false {
		for _, p := range orphanTree(run) {
			if _, known := doomed[p.PID]; !known && p.PGID == run.PID {
				signalProcess(p.PID, p.Ticks, unix.SIGTERM, unix.SIGCONT)
			}
			doomed[p.PID] = p
		}
		group := 0
		for pid, p := range doomed {
			if !alive(pid, p.Ticks) {
				delete(doomed, pid)
			} else if p.PGID == run.PID {
				group++
			}
		}
		if len(doomed) == 0 && !first {
			return nil
		}
		if group == 0 || systemNow().Sub(start) > r.grace() {
			for pid, p := range doomed {
				signalProcess(pid, p.Ticks, unix.SIGKILL)
			}
		}
		if systemNow().Sub(start) > r.grace()+killLimit {
			return ErrStillAlive
		}
		if err := wait.next(); err != nil {
			return err
		}
	}
}

// orphanTree finds what belongs to a command without a shim, or nothing once the command itself is gone.
func orphanTree(run runRecord) []process {
	if !alive(run.PID, run.StartTicks) {
		return nil
	}
	tree, err := descendants(run.PID)
	if err != nil {
		return nil
	}
	all, err := processes()
	if err != nil {
		return nil
	}
	for _, p := range all {
		if !p.dead() && (p.PID == run.PID || p.SID == run.SID && run.SID > 0) {
			tree = append(tree, p)
		}
	}
	// Between the first look and the second the command may have died and its session number been taken over.
	if !alive(run.PID, run.StartTicks) {
		return nil
	}
	return tree
}

// killDescendants sends SIGKILL to everything below root once.
func killDescendants(root int) {
	tree, err := descendants(root)
	if err != nil {
		return
	}
	for _, p := range tree {
		signalProcess(p.PID, p.Ticks, unix.SIGKILL)
	}
}
