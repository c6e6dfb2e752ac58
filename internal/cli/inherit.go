package cli

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepInherited makes the files that this process was started with, beyond the three standard ones, end with it: a
// command that outlives it must not hold a script's lock or the other end of a pipe that somebody reads.
func keepInherited() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // no such directory: nothing can be done about them
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
