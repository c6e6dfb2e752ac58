package task

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/perdure/perdure/session"
)

// cpuGrace is how many seconds a process has after SIGXCPU until the kernel kills it.
const cpuGrace = 5

// applyLimits binds this process and all that it will start. A bound above what the system allows is lowered to it.
func applyLimits(l session.CommandLimits) error {
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
