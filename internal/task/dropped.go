//go:build linux || darwin

package task

import (
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// The room for the exit record serves, until that is written, to remember how far output was dropped: both have to be
// writable on a full disk, and never at the same time.
const droppedDigits = 16

// noteDropped remembers that everything up to the absolute offset end was printed, whether it was kept or not.
func (d actDir) noteDropped(end int64) {
	fd, err := openRetry(d.path(spareName), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return // the exit record has taken the place over
	}
	defer unix.Close(fd)
	_, _ = unix.Pwrite(fd, fmt.Appendf(nil, "%0*x", droppedDigits, end), 0)
}

// droppedTo returns what noteDropped has remembered last, or 0.
func (d actDir) droppedTo() int64 {
	fd, err := openRetry(d.path(spareName), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	var digits [droppedDigits]byte
	if n, err := unix.Pread(fd, digits[:], 0); n < droppedDigits || err != nil {
		return 0
	}
	end, err := strconv.ParseInt(string(digits[:]), 16, 64)
	if err != nil {
		return 0
	}
	return end
}
