//go:build unix

package pace

import (
	"os"
	"syscall"
)

// goesOn are the signals that tell a process that it goes on after it was stopped.
var goesOn = []os.Signal{syscall.SIGCONT}
