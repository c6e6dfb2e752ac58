package process

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ReaderLeaves waits until nobody can read from a pipe any more; false: ctx has ended before.
func ReaderLeaves(ctx context.Context, pipe *os.File) bool {
	const look = 100 * time.Millisecond // how late either may be noticed
	for ctx.Err() == nil {
		fds := []unix.PollFd{{Fd: int32(pipe.Fd())}}
		if n, err := unix.Poll(fds, int(look.Milliseconds())); err == nil && n > 0 {
			return fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		}
	}
	return false
}
