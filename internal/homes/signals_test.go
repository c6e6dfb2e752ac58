//go:build unix

package homes_test

import (
	"os"
	"syscall"
)

// lives reports whether the process is there.
func lives(pid int) bool { return syscall.Kill(pid, 0) == nil }

// die kills this process as an outsider would: nothing is tidied up.
func die() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }
