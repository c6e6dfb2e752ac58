//go:build linux || darwin

package task

import (
	"syscall"
	"time"
)

// What ends a whole machine, login or scope in order, as systemd does, tells every process of it to end at about the
// same time: the command, and its shim. A shim that was told shortly before its command ended, or is being told now,
// takes that for the reason. It stays to record it. Whatever is left after the system's patience is killed, the shim
// with it, and is lost in the reboot like after a power failure.
const (
	systemPatience = 2 * time.Minute
	// togetherLimit is how long after the command the shim may be told.
	togetherLimit = 200 * time.Millisecond
)

// endedWithAll says whether the command ended because the system ends everything around it.
func (s *shim) endedWithAll() bool {
	if s.killer != "" || s.end.lost {
		return false
	}
	told := func() bool {
		select {
		case <-s.terms:
			s.termed = s.now().UnixMilli()
		default:
		}
		return s.termed != 0 && s.ended-s.termed <= systemPatience.Milliseconds()
	}
	if ws := s.end.status; ws.Signaled() && ws.Signal() == syscall.SIGTERM && !told() {
		return s.await(togetherLimit, told) // the order in which processes are told is the system's
	}
	return told()
}
