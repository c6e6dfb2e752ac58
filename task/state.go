package task

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/perdure/perdure/session"
)

// Why a command is lost, or how it runs: the values of CommandState.Reason.
const (
	ReasonReboot     = "reboot"      // the machine restarted before an exit record was written
	ReasonShimDied   = "shim_died"   // shim and command are gone and no exit record was written
	ReasonDirMissing = "dir_missing" // nothing is left to tell
	ReasonDamaged    = "damaged"     // its records exist and make no sense
	ReasonOrphaned   = "orphaned"    // running without its shim: its output is not collected, its code will be lost
)

// State reads the act's directory. It never blocks and changes nothing. Absent is provisional here, because a shim
// may still be about to start; only Settle makes it final. The error is about reading, never about the command.
func (r *Runner) State(sessionID, act string) (session.CommandState, error) {
	d, err := r.act(sessionID, act)
	if err != nil {
		return session.CommandState{}, err
	}
	st, _, err := r.look(d)
	if err != nil {
		return st, fmt.Errorf("state of %s/%s: %w", sessionID, act, err)
	}
	return st, nil
}

// Settle is State for an act that nobody will start any more: when nobody has claimed it, Settle claims it void, so
// that a late shim exits. Absent and lost are final then. A running command stays running.
func (r *Runner) Settle(ctx context.Context, sessionID, act string) (session.CommandState, error) {
	if err := ctx.Err(); err != nil {
		return session.CommandState{}, err
	}
	d, err := r.act(sessionID, act)
	if err != nil {
		return session.CommandState{}, err
	}
	st, err := r.settle(d)
	if err != nil {
		return st, fmt.Errorf("settle %s/%s: %w", sessionID, act, err)
	}
	return st, nil
}

func (r *Runner) settle(d actDir) (session.CommandState, error) {
	st, open, err := r.look(d)
	if err != nil || !open {
		return st, err
	}
	void := claim{word: claimVoid}
	if st.Status == session.CommandLost {
		void.why = st.Reason
	}
	if st.Reason == ReasonDirMissing {
		if err := os.MkdirAll(string(d), 0o700); err != nil {
			return st, err
		}
	}
	if _, err := d.claimAct(void); err != nil {
		return st, err
	}
	// Won or not, what the directory says now is decided.
	st, _, err = r.look(d)
	return st, err
}

// look reads the directory in the order that makes the answer consistent: first the lock, then what its holder wrote.
// Whoever sees the lock free sees all that the shim ever did. open means that nobody has claimed the act.
func (r *Runner) look(d actDir) (st session.CommandState, open bool, err error) {
	if _, err := os.Stat(string(d)); missing(err) {
		return session.CommandState{Status: session.CommandLost, Reason: ReasonDirMissing}, true, nil
	}
	held, err := d.held()
	if err != nil {
		return st, false, err
	}
	c, err := d.readClaim()
	if err != nil {
		return st, false, err
	}
	run, runErr := d.readRun()
	if runErr != nil && !missing(runErr) && !errors.Is(runErr, errDamaged) {
		return st, false, runErr
	}
	st = session.CommandState{PID: run.PID, StartTicks: run.StartTicks, BootID: run.BootID, Started: run.Started}
	if st.Output, err = outputEnd(d); err != nil {
		return st, false, err
	}
	var exit exitRecord
	switch err := readRecord(d.path(exitName), &exit); {
	case err == nil:
		fillExit(&st, exit, d, held)
		return st, false, nil
	case errors.Is(err, errDamaged):
		st.Status, st.Reason = session.CommandLost, ReasonDamaged
		return st, false, nil
	case !missing(err):
		return st, false, err
	}
	err = r.judge(&st, d, held, c, runErr)
	return st, c.word == "", err
}

// judge decides about an act without an exit record.
func (r *Runner) judge(st *session.CommandState, d actDir, held bool, c claim, runErr error) error {
	if c.word == claimVoid {
		st.Status = session.CommandAbsent
		if c.why != "" {
			st.Status, st.Reason = session.CommandLost, c.why
		}
		return nil
	}
	if held {
		st.Status = session.CommandRunning
		return nil
	}
	same, err := r.sameBoot(d, st.BootID)
	switch {
	case errors.Is(err, errDamaged):
		st.Status, st.Reason = session.CommandLost, ReasonDamaged
	case err != nil:
		return err
	case !same:
		st.Status, st.Reason = session.CommandLost, ReasonReboot
	case c.word == "" || missing(runErr):
		st.Status = session.CommandAbsent
	case runErr != nil:
		st.Status, st.Reason = session.CommandLost, ReasonDamaged
	case alive(st.PID, st.StartTicks):
		st.Status, st.Reason = session.CommandRunning, ReasonOrphaned
	default:
		st.Status, st.Reason = session.CommandLost, ReasonShimDied
		st.By = d.killedBy()
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

func ignoreMissing(err error) error {
	if missing(err) {
		return nil
	}
	return err
}

// fillExit adds what the exit record knows. Descendants are counted now, as long as the shim is there to hold them;
// with none, the output is complete.
func fillExit(st *session.CommandState, exit exitRecord, d actDir, held bool) {
	st.Status, st.ExitCode = session.CommandExited, exit.Code
	if exit.Code == nil {
		st.Status = session.CommandKilled
	}
	st.Signal, st.By = exit.Signal, exit.By
	st.Started, st.Ended = exit.Started, exit.Ended
	st.Cwd, st.Env = exit.Cwd, exit.Env
	st.Output = max(st.Output, exit.Output)
	if !held || exit.Stragglers == 0 {
		return
	}
	st.Stragglers = exit.Stragglers
	if shim, ok := d.shim(); ok {
		if left, err := descendants(shim.PID); err == nil {
			// None left means that the shim is just collecting their last output: not over yet.
			st.Stragglers = max(len(left), 1)
		}
	}
}

// shim returns the living holder of the act's lock, once it has said who it is.
func (d actDir) shim() (shimRecord, bool) {
	var shim shimRecord
	err := readRecord(d.path(lockName), &shim)
	return shim, err == nil && alive(shim.PID, shim.Ticks)
}

func (d actDir) readRun() (runRecord, error) {
	var run runRecord
	err := readRecord(d.path(runName), &run)
	if err == nil && run.PID <= 0 {
		err = errDamaged
	}
	return run, err
}

// killedBy names who asked for the command's death, if anybody did.
func (d actDir) killedBy() string {
	var intent intentRecord
	if readRecord(d.path(intentName), &intent) != nil {
		return ""
	}
	return intent.By
}
