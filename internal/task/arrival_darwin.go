package task

import (
	"os"

	"golang.org/x/sys/unix"
)

// arrival tells when a FIFO holds something, without taking it.
type arrival struct {
	fifo *os.File // non-blocking: the runtime polls it
}

func newArrival(path string) (*arrival, error) {
	fd, err := openRetry(path, fifoOpenFlags|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return &arrival{fifo: os.NewFile(uintptr(fd), path)}, nil
}

// wait returns as soon as the FIFO holds a byte.
func (a *arrival) wait() error {
	c, err := a.fifo.SyscallConn()
	if err != nil {
		return err
	}
	return c.Read(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
}
