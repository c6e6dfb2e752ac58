//go:build linux || darwin

package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/perdure/perdure/internal/command"
)

// Adopt gives an act whose shim died a new one, which goes on collecting the output where the dead one was interrupted,
// watches over the timeout, records how the command ends, and ends it if somebody had asked for that. Of a command that
// has ended meanwhile it records what the kernel still knows. It returns nil, having done nothing, when the act has a
// shim, is over, or never ran. Any number of processes may call it at once: one new shim comes of it.
func (r *Runner) Adopt(ctx context.Context, sessionID, act string) error {
	d, err := r.act(sessionID, act)
	if err != nil {
		return err
	}
	v, err := r.look(d)
	if err == nil && v.orphan {
		err = r.adopt(ctx, d, nil)
	}
	if err != nil {
		return fmt.Errorf("adopt %s/%s: %w", sessionID, act, err)
	}
	return nil
}

// Look is State for those who want to know rather than to decide: an orphan that it meets is adopted, so that running
// means watched over, and lost means that nobody will ever know. Where no new shim can be started it is State.
func (r *Runner) Look(ctx context.Context, sessionID, act string) (command.State, error) {
	d, err := r.act(sessionID, act)
	if err != nil {
		return command.State{}, err
	}
	v, err := r.look(d)
	if err == nil && v.orphan {
		v, err = r.lookAfter(d, r.adopt(ctx, d, nil))
	}
	if err == nil {
		v, err = r.afterTheEnd(ctx, d, v)
	}
	if err != nil {
		return v.State, fmt.Errorf("look at %s/%s: %w", sessionID, act, err)
	}
	return v.State, nil
}

// recordPatience is how long a look waits for the record of an end that has come.
const recordPatience = 500 * time.Millisecond

// afterTheEnd looks again while nothing is decided: the stand-in is about to take the place of a dead shim, or the command
// has ended and how is not written yet.
func (r *Runner) afterTheEnd(ctx context.Context, d actDir, v view) (view, error) {
	limited, cancel := context.WithTimeout(ctx, recordPatience)
	defer cancel()
	var err error
	for wait := newPoller(limited); err == nil && v.unrecorded() && wait.next() == nil; {
		if v, err = r.look(d); err == nil && v.orphan { // the stand-in died too
			return r.lookAfter(d, r.adopt(ctx, d, nil))
		}
	}
	return v, err
}

func (v view) unrecorded() bool {
	if v.Status != command.Running || v.orphan || v.run.PID <= 0 {
		return false
	}
	return !alive(v.run.PID, v.run.StartTicks) || v.shim.PID > 0 && !alive(v.shim.PID, v.shim.Ticks)
}

// lookAfter looks again after a try to adopt. A failed one changes nothing about what is known.
func (r *Runner) lookAfter(d actDir, err error) (view, error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return view{}, err
	}
	return r.look(d)
}

// adopt starts a replacement shim and returns when the act has one or is over. k, if the caller has one, stays open
// until then.
func (r *Runner) adopt(ctx context.Context, d actDir, k *keeper) error {
	if err := r.Check(); err != nil {
		return err
	}
	if k == nil {
		k = &keeper{}
		defer k.close()
	}
	k.hold(d)
	ready, err := r.launch(d, adoptArg, 0, k)
	if err != nil {
		return err
	}
	defer ready.Close()
	verdict, err := readReady(ctx, ready)
	switch {
	case err != nil:
		return err
	case verdict == readyRunning || verdict == readyClaimed:
		return nil
	case verdict == "":
		return errors.New("the replacement shim died")
	}
	return errors.New(strings.TrimPrefix(verdict, readyError))
}

// How soon the process that started a shim replaces it when it dies: at once, and ever later when the replacements die
// young, so that a fault that kills every shim does not keep the machine busy.
const (
	firstRescue = 10 * time.Millisecond
	lastRescue  = 10 * time.Second
	oldEnough   = time.Second
)

// mind waits for a shim of this process to end and replaces it if it died before its work was done. delay is how long
// to wait with that should it die young.
func (r *Runner) mind(d actDir, pid, pidfd int, delay time.Duration, k *keeper) {
	defer k.close()
	born := systemNow()
	if reapWhenDead(pid, pidfd) || r.noRescue {
		return
	}
	if systemNow().Sub(born) > oldEnough {
		delay = 0
	}
	k.hold(d)
	if v, err := r.look(d); err != nil || !v.orphan {
		return
	}
	if delay > 0 {
		<-time.After(delay)
	}
	if ready, err := r.launch(d, adoptArg, min(max(2*delay, firstRescue), lastRescue), k); err == nil {
		_, _ = readReady(context.Background(), ready)
		ready.Close()
	}
}

// limiter spaces out tries to adopt.
type limiter struct {
	tries int
	next  time.Time
}

// maxAdopts is how many failed tries to adopt an ended command it takes to believe that nobody will know its end.
const maxAdopts = 5

// allow says whether it is time for another try.
func (l *limiter) allow() bool {
	now := systemNow()
	if now.Before(l.next) {
		return false
	}
	l.next = now.Add(min(firstRescue<<l.tries, time.Second))
	l.tries = min(l.tries+1, maxAdopts+2)
	return true
}

// selfArgv is the vector that starts this program again.
func (r *Runner) selfArgv() ([]string, error) {
	if len(r.Exe) > 0 {
		return r.Exe[:len(r.Exe):len(r.Exe)], nil
	}
	exe, err := selfExe()
	return []string{exe}, err
}

func openNull() (*os.File, error) { return os.OpenFile(os.DevNull, os.O_RDWR, 0) }
