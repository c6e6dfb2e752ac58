//go:build linux || darwin

package task

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/internal/command"
)

// cpuGrace is how many seconds a process has after SIGXCPU until the kernel kills it.
const cpuGrace = 2

// limitOf names the limit that ended a command, as its killer.
func limitOf(what string) string { return command.ByLimit + " (" + what + ")" }

// outOfCPU says whether a signal was the kernel's, because the command had used up its processor time: SIGXCPU at the
// limit, SIGKILL for one that went on until the grace was over.
func (s *shim) outOfCPU(sig unix.Signal) bool {
	limit := time.Duration(s.plan.Limits.CPUSeconds) * time.Second
	switch {
	case limit == 0:
		return false
	case sig == unix.SIGXCPU:
		return true
	}
	// The kernel samples the time that it limits, and measures the one that it tells: on a busy machine they differ.
	return sig == unix.SIGKILL && s.end.cpu >= limit
}

// applyLimits binds this process and all that it will start. A bound above what the system allows is lowered to it. The
// memory's comes last of all, by limitMemory: this program needs more of the address space than many commands do.
func applyLimits(l command.Limits) error {
	return setLimits(command.Limits{CPUSeconds: l.CPUSeconds, OpenFiles: l.OpenFiles})
}

func limitMemory(bytes int64) error { return setLimits(command.Limits{MemoryBytes: bytes}) }

func setLimits(l command.Limits) error {
	for _, set := range []struct {
		name     string
		resource int
		soft     int64
		spare    int64
	}{
		{"cpu time", unix.RLIMIT_CPU, l.CPUSeconds, cpuGrace},
		{"memory", unix.RLIMIT_AS, l.MemoryBytes, 0},
		{"open files", unix.RLIMIT_NOFILE, l.OpenFiles, 0},
	} {
		if set.soft <= 0 {
			continue
		}
		var now syscall.Rlimit
		if err := syscall.Getrlimit(set.resource, &now); err != nil {
			return fmt.Errorf("limit of %s: %w", set.name, err)
		}
		now.Max = min(now.Max, uint64(set.soft+set.spare))
		now.Cur = min(uint64(set.soft), now.Max)
		// The syscall package's own call, because the runtime restores the number of files for it at the exec.
		if err := syscall.Setrlimit(set.resource, &now); err != nil {
			return fmt.Errorf("limit of %s: %w", set.name, err)
		}
	}
	return nil
}
