//go:build linux || darwin

package task

import (
	"encoding/json"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// treeLimit is how long one kill tries to empty the tree after the grace.
const treeLimit = 10 * time.Second

// killRequested obeys an intent. Without one the signal came from somebody else and means nothing.
func (s *shim) killRequested() {
	var intent intentRecord
	if err := readRecord(s.dir.path(intentName), &intent); err != nil {
		complain("kill without intent: %v", err)
		return
	}
	if intent.Sent && s.end == nil {
		s.killer = intent.By // by the shim before this one
	}
	s.killTree(intent.By, time.Duration(max(intent.GraceMS, 0))*time.Millisecond)
}

// overdue records the shim's own intent and obeys it. A disk that refuses the intent does not save the command.
func (s *shim) overdue(why string) {
	grace := time.Duration(s.plan.GraceMS) * time.Millisecond
	if err := s.dir.recordIntent(why, s.now().UnixMilli(), grace); err != nil {
		complain("%s: %v", why, err)
	}
	by := s.dir.killedBy()
	if by == "" {
		by = why
	}
	s.killTree(by, grace)
}

// killTree ends everything below the shim: the process group politely, then all descendants. The command's output
// keeps flowing meanwhile.
func (s *shim) killTree(by string, grace time.Duration) {
	if !s.reap() {
		return
	}
	fault("killing")
	if s.end == nil {
		s.killer = by
		s.dir.noteSent()
	}
	if s.end == nil && !s.adopted {
		// The command is not reaped, so its pid, which is its group's number, is nobody else's.
		_ = unix.Kill(-s.pid, unix.SIGTERM)
		_ = unix.Kill(-s.pid, unix.SIGCONT)
	} else {
		for _, p := range s.group() {
			signalProcess(p.PID, p.Ticks, unix.SIGTERM, unix.SIGCONT)
		}
	}
	s.await(grace, func() bool { return !s.reap() || len(s.group()) == 0 })
	fault("grace-over")
	if s.enclosure != nil {
		_ = s.enclosure.kill() // in one go; what follows is for systems that cannot
	}
	gone := s.await(treeLimit, func() bool {
		killAll(s.family.living())
		return !s.reap()
	})
	if !gone {
		complain("%d processes survived SIGKILL", s.count())
	}
}

// group returns the living processes in the command's process group.
func (s *shim) group() []process {
	return slices.DeleteFunc(s.family.living(), func(p process) bool { return p.PGID != s.pid })
}

// noteSent adds to the intent that a signal was sent: whatever the command exits with afterwards is not its own.
func (d actDir) noteSent() {
	var intent intentRecord
	if err := readRecord(d.path(intentName), &intent); err != nil || intent.Sent {
		return
	}
	intent.Sent = true
	if text, err := json.Marshal(intent); err == nil {
		_ = overwrite(d.path(intentName), text, false)
	}
}
