//go:build linux || darwin

package task

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// errNothingToAdopt says that the act needs no replacement shim: it has ended, never ran, or has a shim.
var errNothingToAdopt = errors.New("nothing to adopt")

// adoptMain is a replacement shim: it goes on where a dead one was interrupted. Its ready pipe reports once the act is
// in its hands, and once the end is on record if the command had ended already.
func adoptMain(d actDir) int {
	forbidTracing()
	s := &shim{path: d, dir: ".", now: systemNow, adopted: true}
	defer s.dismiss()
	err := s.takeOver()
	switch {
	case errors.Is(err, errNothingToAdopt):
		s.report(readyClaimed)
		return 0
	case err != nil:
		complain("adopt: %v", err)
		s.report(verdict(err))
		return 1
	}
	fault("adopted")
	s.passStage()
	left := s.reap()
	if s.neverRan() {
		s.report(readyRunning)
		return 0
	}
	if s.end != nil && !s.recorded {
		if err := s.record(left); err != nil {
			complain("exit record: %v", err)
		}
	}
	s.report(readyRunning)
	unix.Close(readyFD)
	fault("adopt-reported")
	if s.dir.killedBy() != "" {
		wake(s.kills, syscall.SIGUSR1) // somebody wanted its death, and the shim that was asked died first
	}
	return s.supervise()
}

// takeOver puts this process into the place of a dead shim.
func (s *shim) takeOver() error {
	if err := s.enter(); err != nil {
		return err
	}
	if err := s.takeLock(); err != nil {
		return err
	}
	fault("adopt-locked")
	if err := s.planAgain(); err != nil {
		return err
	}
	run, err := s.findWork()
	if err != nil {
		return err
	}
	if s.out, err = reopenOutput(s.dir, s.plan); err != nil {
		return err
	}
	s.out.off = max(s.out.off, s.exit.Output)
	if s.in, err = openInput(s.dir, s.plan, s.out); err != nil {
		complain("input: %v", err)
		s.in = &input{dir: s.dir, fd: -1}
	}
	s.listen()
	s.pid, s.ticks, s.started = run.PID, run.StartTicks, run.Started
	if run.Cgroup != "" {
		s.enclosure = &cgroup{dir: run.Cgroup}
	}
	var given *processHandle
	if slices.Contains(os.Environ(), handleKey) {
		given = inheritedHandle(commandFD)
	}
	s.family = watchTraces(s.path, run, given, func() { wake(s.chld, syscall.SIGCHLD) })
	s.standBy()
	return s.publish()
}

// planAgain reads the plan. It is gone once the command has ended; then the spec has what matters for its stragglers.
func (s *shim) planAgain() (err error) {
	if s.plan, err = s.dir.readPlan(); !missing(err) {
		return err
	}
	var spec specRecord
	if err := readRecord(s.dir.path(specName), &spec); err != nil {
		return err
	}
	s.plan = execPlan{
		BootID: spec.BootID, KeepBytes: spec.KeepBytes, TimeoutMS: spec.TimeoutMS, GraceMS: defaultGrace.Milliseconds(),
		Cwd: spec.Cwd, Argv: spec.Argv, QuotaBytes: defaultQuota, FloorBytes: defaultFloor,
	}
	return nil
}

// wake is a signal from this process to itself. One that waits already is enough.
func wake(c chan<- os.Signal, sig os.Signal) {
	select {
	case c <- sig:
	default:
	}
}

// findWork decides, with the lock held, whether there is anything to take over.
func (s *shim) findWork() (runRecord, error) {
	c, err := s.dir.readClaim()
	if err != nil {
		return runRecord{}, err
	}
	run, err := s.dir.readRun()
	if err != nil {
		return run, fmt.Errorf("%w: %w", errNothingToAdopt, err)
	}
	if boot := os.Getenv(bootKey); c.word != claimRun || s.dir.noGo() || boot != "" && boot != run.BootID {
		return run, errNothingToAdopt
	}
	switch err := readRecord(s.dir.path(exitName), &s.exit); {
	case err == nil && s.exit.Stragglers == 0:
		return run, errNothingToAdopt
	case err == nil:
		s.recorded, s.end = true, &ending{}
	case !missing(err):
		return run, fmt.Errorf("%w: %w", errNothingToAdopt, err)
	}
	return run, nil
}

// passStage waits until the process is the command and not the exec stage: without its shim a stage that has not got
// the go byte is about to exit.
func (s *shim) passStage() {
	s.await(time.Second, func() bool { return !alive(s.pid, s.ticks) || !isStage(s.pid, s.path) })
}

// neverRan says that what ended was the exec stage, because its shim had died before the go byte.
func (s *shim) neverRan() bool {
	return s.adopted && s.end != nil && !s.end.lost && !s.recorded && s.end.status.ExitStatus() == exitNoGo && s.dir.noGo()
}
