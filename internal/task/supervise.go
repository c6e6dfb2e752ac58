//go:build linux || darwin

package task

import (
	"encoding/json"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/command"
)

const (
	// lingerLimit is how long the shim waits, once the command ended, for children that are about to end too, such as
	// the last process of a substitution. After that they are stragglers.
	lingerLimit = 20 * time.Millisecond
	// firstRetry and lastRetry bound the backoff of an exit record that the disk refuses.
	firstRetry = 50 * time.Millisecond
	lastRetry  = 10 * time.Second
	// settledAfter is when a command counts as a long one, whose shim had better be small.
	settledAfter = time.Second
	// restAfter is how long the collector may still be at work after that.
	restAfter = 300 * time.Millisecond
)

// supervise stays until the command has ended, its exit is on record, and its tree is gone.
func (s *shim) supervise() int {
	go s.out.pump()
	s.in.serve()
	wake(s.asks, syscall.SIGUSR2) // somebody may have asked before anybody listened
	timeout, wall := s.timer(s.plan.TimeoutMS), s.timer(s.plan.Limits.WallMS)
	settled := s.timer(settledAfter.Milliseconds())
	var retry <-chan time.Time
	var release func()
	var written [][2]uintptr
	backoff := firstRetry
	for resting := false; ; {
		if !resting {
			left := s.reap()
			if s.neverRan() {
				return 0
			}
			if s.end != nil && !s.recorded {
				timeout = nil // the timeout is the command's; what it left behind has its own life
				if err := s.record(left); err != nil {
					complain("exit record: %v", err)
					if missing(err) {
						return 1 // the directory was removed: nobody can be told
					}
					retry, backoff = time.After(backoff), min(2*backoff, lastRetry)
				}
				left = s.reap()
			}
			if !left && s.recorded {
				return s.leave()
			}
		}
		resting = false
		select {
		case <-s.chld:
		case <-s.kills:
			s.killRequested()
		case <-s.terms:
			s.termed = s.now().UnixMilli()
			fault("told")
		case <-s.asks:
			s.in.obey()
			if s.dir.has(detachName) {
				timeout = nil
			}
		case <-timeout:
			if timeout = nil; !s.dir.has(detachName) {
				s.overdue(command.ByTimeout)
			}
		case <-wall:
			wall = nil
			s.overdue(limitOf("wall"))
		case <-retry:
		case <-settled:
			if settled = nil; release == nil {
				written, release = trimMemory()
				settled = time.After(restAfter)
			} else {
				resting = true         // looking around would bring back what is given away
				s.standByAnew(written) // one that was forked now shares nearly all of this process's memory, and goes on doing so
				release()
			}
		}
	}
}

// timer fires once the command has run for ms; never if that is 0. It is the process's only one of its kind and stays.
func (s *shim) timer(ms int64) <-chan time.Time {
	if ms <= 0 {
		return nil
	}
	return time.After(s.timeLeft(time.Duration(ms) * time.Millisecond))
}

// timeLeft is what remains of a span that began with the command.
func (s *shim) timeLeft(left time.Duration) time.Duration {
	if run, err := s.dir.readRun(); s.adopted && err == nil {
		left -= processAge(run)
	}
	return max(left, 0)
}

// reap collects what has ended and reports whether anything of the tree is left.
func (s *shim) reap() (left bool) {
	end, left := s.family.reap()
	if end != nil && s.end == nil {
		s.end, s.ended = end, s.now().UnixMilli()
	}
	return left
}

// record writes exit.json: after the output that is there, and before stragglers end.
func (s *shim) record(left bool) error {
	fault("ended")
	if left {
		left = !s.await(lingerLimit, func() bool { return !s.reap() })
	}
	_ = s.in.drain()
	s.out.drain()
	fault("drained")
	rec := s.exitRecord()
	if left {
		rec.Stragglers = s.count()
	}
	if err := s.dir.writeExit(rec); err != nil {
		return err
	}
	fault("recorded")
	s.recorded, s.exit = true, rec
	// The plan has done its work; a task's directory stays for long, and the environment in it may hold secrets.
	os.Remove(s.dir.path(planName))
	return nil
}

// writeExit puts the record into the room that was set aside for it, if it fits and is still there, so that a full
// disk does not hide how the command ended.
func (d actDir) writeExit(rec exitRecord) error {
	text, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(d.path(exitName)); err == nil && info.IsDir() {
		d.setAside(exitName)
	}
	if len(text) <= spareRoom && overwrite(d.path(spareName), text, true) == nil {
		fault("tmp-exit.json")
		return os.Rename(d.path(spareName), d.path(exitName))
	}
	return replaceFile(d.path(exitName), text, true)
}

// setAside takes a directory away from where a record belongs. Only the command can have put it there, and no file
// could ever take its place. Whatever is in it, it can be renamed; what cannot be done is left to the next attempt.
func (d actDir) setAside(name string) {
	aside := d.path(name + ".aside")
	_ = os.RemoveAll(aside)
	_ = os.Rename(d.path(name), aside)
}

func (s *shim) exitRecord() exitRecord {
	rec := exitRecord{Version: formatVersion, Started: s.started, Ended: s.ended, Output: s.out.end(), By: s.killer}
	bySystem := s.endedWithAll()
	switch ws := s.end.status; {
	case s.end.lost:
		rec.Reason, rec.By = command.ReasonShimDied, s.dir.killedBy()
	case ws.Signaled():
		rec.Signal = unix.SignalName(ws.Signal())
		if rec.By == "" {
			rec.By = s.dir.killedBy()
		}
		if rec.By == "" && s.outOfCPU(ws.Signal()) {
			rec.By = limitOf("cpu")
		}
		if rec.By == "" && ws.Signal() == unix.SIGKILL && s.enclosure != nil && s.enclosure.outOfMemory() {
			rec.By = limitOf("memory")
		}
		if rec.By == "" && bySystem {
			rec.By = command.BySystem
		}
		if rec.By == "" {
			rec.By = command.ByUnknown
		}
	case s.killer != "":
		// It was told to end and did so in its own way. The code would be that of its handler, not of its work.
		rec.Signal = unix.SignalName(unix.SIGTERM)
	default:
		code := ws.ExitStatus()
		if rec.Code = &code; bySystem {
			rec.By = command.BySystem
		}
		rec.Cwd, rec.Env = s.captured()
	}
	return rec
}

// captured reads what the shell reported at its end, if it was asked to and got there.
func (s *shim) captured() (string, command.EnvDelta) {
	if !s.plan.Capture {
		return "", nil
	}
	cwd, env, err := s.dir.readCapture()
	if err != nil {
		complain("capture: %v", err)
	}
	return cwd, env
}

// leave ends the shim: nothing of the tree is left, so what the FIFO holds is the end of the output.
func (s *shim) leave() int {
	_ = s.in.drain()
	s.out.drain()
	fault("leaving")
	if s.enclosure != nil {
		s.enclosure.remove()
	}
	if end := s.out.end(); end != s.exit.Output || s.exit.Stragglers > 0 {
		s.exit.Output, s.exit.Stragglers = end, 0
		if err := s.dir.writeExit(s.exit); err != nil {
			complain("final length %d: %v", end, err)
		}
	}
	return 0
}

// count returns how many processes of the tree live, at least one: the caller knows of one.
func (s *shim) count() int { return max(len(s.family.living()), 1) }

// await polls until done or for at most limit, waking early when a child ends. It reports whether done was true.
func (s *shim) await(limit time.Duration, done func() bool) bool {
	const first, last = time.Millisecond, 10 * time.Millisecond
	deadline := s.now().Add(limit)
	for step := first; ; step = min(2*step, last) {
		if done() {
			return true
		}
		if !s.now().Before(deadline) {
			return false
		}
		select {
		case <-s.chld:
		case <-time.After(step):
		}
	}
}
