//go:build linux || darwin

package task

import (
	"fmt"
	"os"
)

// What the go byte says: who bounds the stage's memory.
const (
	goPlain    = 1 // the stage itself, by the address space of each process, if there is a limit
	goEnclosed = 2 // a group that it has been put into
)

// enclose puts the stage, before it becomes the command, into a group with its memory limit, where the system lets us:
// such a group counts what the whole tree really uses. It returns the go byte. Where there is no such group, or
// something goes wrong with it, the stage binds itself.
func (s *shim) enclose() byte {
	limit := s.plan.Limits.MemoryBytes
	if limit == 0 {
		return goPlain
	}
	self, err := readProcess(os.Getpid())
	if err != nil {
		return goPlain
	}
	g, err := systemCgroups().create(fmt.Sprintf("perdure-%d-%d", self.PID, self.Ticks), limit)
	if err != nil {
		return goPlain
	}
	if err := g.add(s.pid); err != nil {
		complain("cgroup: %v", err)
		g.remove()
		return goPlain
	}
	s.enclosure = g
	return goEnclosed
}
