//go:build linux || darwin

package task

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// lockPatience is how long a shim tries to get its lock: probes hold it for microseconds. It is also how long a
	// replacement stands back for a stand-in, which takes milliseconds unless somebody has stopped it.
	lockPatience = 5 * time.Second
	// dyingPatience is how long a stand-in waits until the shim whose death woke it has let go of the lock.
	dyingPatience = 5 * time.Minute
	lockRetry     = time.Millisecond
)

// takeLock locks the act for life. Who comes to replace a dead shim and finds a living one leaves, and stands back while
// the dead one's stand-in lives, which holds what the command prints and knows how it ends.
func (s *shim) takeLock() error {
	path := s.dir.path(lockName)
	fd, err := openRetry(path, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	dying, patience := standsFor(os.Getenv(ofKey)), lockPatience
	if dying.PID > 0 {
		patience = dyingPatience
	}
	for start := s.now(); ; time.Sleep(lockRetry) { //nolint:forbidigo // a lock of another process cannot be waited for with a bound
		waited := s.now().Sub(start)
		if s.adopted && dying.PID == 0 && waited < lockPatience && s.dir.standsIn() {
			fault("adopt-stands-back")
			if _, living := s.dir.shim(); living {
				return errNothingToAdopt
			}
			continue
		}
		if err = flock(fd, unix.LOCK_EX|unix.LOCK_NB); err == nil {
			s.lock = fd
			return nil
		}
		fault("lock-busy")
		if holder, living := s.dir.shim(); living && s.adopted && (holder.PID != dying.PID || holder.Ticks != dying.Ticks) {
			return errNothingToAdopt
		}
		if err != unix.EWOULDBLOCK || waited > patience {
			return fmt.Errorf("lock %s: %w: %w", path, ErrClaimed, err)
		}
	}
}

// standsFor reads whose stand-in this process was: the shim that dies. The zero process: it was none.
func standsFor(text string) (p process) {
	pid, ticks, _ := strings.Cut(text, ":")
	n, err := strconv.Atoi(pid)
	t, err2 := strconv.ParseUint(ticks, 10, 64)
	if err != nil || err2 != nil {
		return process{}
	}
	return process{PID: n, Ticks: t}
}

// standsIn reports that the stand-in of the act's last shim lives. This process is not it.
func (d actDir) standsIn() bool {
	var shim shimRecord
	return readRecord(d.path(lockName), &shim) == nil && alive(shim.Standby, shim.StandbyTicks)
}
