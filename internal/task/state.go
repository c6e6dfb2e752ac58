//go:build linux || darwin

package task

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/perdure/perdure/internal/command"
)

// State reads the act's directory. It never blocks and changes nothing. Absent is provisional here, because a shim
// may still be about to start; only Settle makes it final. Lost is provisional in the same way until somebody adopted,
// which Settle, Wait and Look do. The error is about reading, never about the command.
func (r *Runner) State(sessionID, act string) (command.State, error) {
	d, err := r.act(sessionID, act)
	if err != nil {
		return command.State{}, err
	}
	v, err := r.look(d)
	if err != nil {
		return v.State, fmt.Errorf("state of %s/%s: %w", sessionID, act, err)
	}
	return v.State, nil
}

// view is what a look at an act directory comes to.
type view struct {
	command.State
	open   bool // nobody has claimed the act
	held   bool // a living shim holds the lock
	orphan bool // a replacement shim has something to do: to go on, or to record how it ended
	run    runRecord
	shim   shimRecord // who holds the lock; zero: nobody, or somebody who has not said who
}

// Settle is State for an act that nobody will start any more: when nobody has claimed it, Settle claims it void, so
// that a late shim exits, and an orphan is adopted. Absent and lost are final then. A running command stays running.
func (r *Runner) Settle(ctx context.Context, sessionID, act string) (command.State, error) {
	if err := ctx.Err(); err != nil {
		return command.State{}, err
	}
	d, err := r.act(sessionID, act)
	if err != nil {
		return command.State{}, err
	}
	v, err := r.settle(ctx, d)
	if err != nil {
		return v.State, fmt.Errorf("settle %s/%s: %w", sessionID, act, err)
	}
	return v.State, nil
}

func (r *Runner) settle(ctx context.Context, d actDir) (view, error) {
	v, err := r.look(d)
	switch {
	case err != nil:
		return v, err
	case v.orphan:
		return r.lookAfter(d, r.adopt(ctx, d, nil))
	case !v.open:
		return v, nil
	}
	void := claim{word: claimVoid}
	if v.Status == command.Lost {
		void.why = v.Reason
	}
	if v.Reason == command.ReasonDirMissing {
		if err := d.remake(); err != nil {
			return v, err
		}
	}
	if _, err := d.claimAct(void); err != nil {
		return v, err
	}
	return r.look(d) // won or not, what the directory says now is decided
}

// look reads the directory in the order that makes the answer consistent: first the lock, then what its holder wrote.
// Whoever sees the lock free sees all that the shim ever did.
func (r *Runner) look(d actDir) (v view, err error) {
	lost := view{State: command.State{Status: command.Lost, Reason: command.ReasonDirMissing}, open: true}
	if d.replaced() {
		return lost, nil
	}
	held, shim, err := d.holder()
	if err != nil {
		return v, err
	}
	if !held {
		if _, err := os.Stat(string(d)); missing(err) {
			return lost, nil
		}
	}
	run, runErr := d.readRun()
	if runErr != nil && !missing(runErr) && !errors.Is(runErr, errDamaged) {
		return v, runErr
	}
	c := claim{word: claimRun} // without that there is no run.json
	if runErr != nil {
		if c, err = d.readClaim(); err != nil {
			return v, err
		}
	}
	v.held, v.run, v.shim = held, run, shim
	v.State = command.State{PID: run.PID, StartTicks: run.StartTicks, BootID: run.BootID, Started: run.Started, Cgroup: run.Cgroup}
	var ended bool
	if v.Output, v.MissingAfter, ended, err = outputEnd(d); err != nil {
		return v, err
	}
	exit, err := d.readExit(ended)
	switch {
	case err == nil:
		return v, r.fillExit(&v, exit, d, held)
	case errors.Is(err, errDamaged):
		v.Status, v.Reason = command.Lost, command.ReasonDamaged
		return v, nil
	case !missing(err):
		return v, err
	}
	v.open = c.word == ""
	return v, r.judge(&v, d, held, c, runErr)
}

// readExit reads the exit record, if the directory was seen to have one.
func (d actDir) readExit(seen bool) (exit exitRecord, err error) {
	defer fault("exit-read")
	if !seen {
		return exit, fs.ErrNotExist
	}
	return exit, readRecord(d.path(exitName), &exit)
}

// judge decides about an act without an exit record.
func (r *Runner) judge(v *view, d actDir, held bool, c claim, runErr error) error {
	if c.word == claimVoid {
		v.Status = command.Absent
		if c.why != "" {
			v.Status, v.Reason = command.Lost, c.why
		}
		return nil
	}
	if held {
		v.Status = command.Running
		return nil
	}
	same, err := r.sameBoot(d, v.BootID)
	switch {
	case errors.Is(err, errDamaged):
		v.Status, v.Reason = command.Lost, command.ReasonDamaged
	case err != nil:
		return err
	case !same:
		v.Status, v.Reason = command.Lost, command.ReasonReboot
	case c.word == "" || missing(runErr) || d.noGo():
		v.Status = command.Absent
	case runErr != nil:
		v.Status, v.Reason = command.Lost, command.ReasonDamaged
	case d.copied(v.run):
		v.Status, v.Reason = command.Lost, command.ReasonCopied
	default:
		v.orphan = true
		v.Status, v.Reason = command.Lost, command.ReasonShimDied
		v.By = d.killedBy()
		if p, err := readProcess(v.PID); err == nil && p.Ticks == v.StartTicks {
			// Alive, or dead and not reaped: how it ended can still be known.
			v.Status, v.Reason, v.By = command.Running, command.ReasonOrphaned, ""
		}
	}
	return nil
}

// sameBoot compares the act's boot with the current one. A directory without spec.json is what a power failure left.
func (r *Runner) sameBoot(d actDir, runBoot string) (bool, error) {
	now, err := r.bootID()
	if err != nil {
		return false, err
	}
	if runBoot != "" {
		return runBoot == now, nil
	}
	var spec specRecord
	if err := readRecord(d.path(specName), &spec); err != nil {
		return false, ignoreMissing(err)
	}
	return spec.BootID == now, nil
}

// fillExit adds what the exit record knows. Descendants are counted now, as long as the shim is there to hold them;
// with none, the output is complete.
func (r *Runner) fillExit(v *view, exit exitRecord, d actDir, held bool) error {
	switch {
	case exit.Reason != "":
		v.Status, v.Reason = command.Lost, exit.Reason
	case exit.Code == nil:
		v.Status = command.Killed
	default:
		v.Status, v.ExitCode = command.Exited, exit.Code
	}
	v.Signal, v.By = exit.Signal, exit.By
	v.Started, v.Ended = exit.Started, exit.Ended
	v.Cwd, v.Env = exit.Cwd, exit.Env
	v.Output = max(v.Output, exit.Output)
	if exit.Stragglers == 0 {
		return nil
	}
	if !held {
		same, err := r.sameBoot(d, v.BootID)
		if err == nil && same && !d.copied(v.run) {
			v.Stragglers, v.orphan = exit.Stragglers, true
		}
		return ignoreDamaged(err)
	}
	v.Stragglers = exit.Stragglers
	if v.shim.Adopted == 0 && alive(v.shim.PID, v.shim.Ticks) {
		// None left means that the shim is just collecting their last output: not over yet.
		v.Stragglers = max(len(v.shim.tree()), 1)
	}
	return nil
}

func ignoreDamaged(err error) error {
	if errors.Is(err, errDamaged) {
		return nil
	}
	return err
}

// tree returns the living processes of the command below its shim.
func (s shimRecord) tree() []int {
	return slices.DeleteFunc(below(s.PID), func(pid int) bool { return pid == s.Standby })
}
