package task

import (
	"os"

	"golang.org/x/sys/unix"
)

// arrival tells when a FIFO holds something, without taking it. It holds a thread while it waits, and three
// descriptors: once a pipe was polled, the kernel wakes the poller on every write, whether it was empty or not (Linux
// since 5.8, poll_usage in fs/pipe.c), which takes a third of the speed of a command that prints little each time.
type arrival struct {
	fifo int    // a description of its own that blocks
	copy [2]int // a pipe for the byte that tee copies
}

func newArrival(path string) (*arrival, error) {
	fifo, err := openRetry(path, fifoOpenFlags, 0)
	if err != nil {
		return nil, err
	}
	a := &arrival{fifo: fifo}
	if err := unix.Pipe2(a.copy[:], unix.O_CLOEXEC); err != nil {
		unix.Close(fifo)
		return nil, os.NewSyscallError("pipe2", err)
	}
	_, _ = unix.FcntlInt(uintptr(a.copy[0]), unix.F_SETPIPE_SZ, os.Getpagesize()) // the user's share of pipes is bounded
	return a, nil
}

// wait returns as soon as the FIFO holds a byte.
func (a *arrival) wait() error {
	for {
		_, err := unix.Tee(a.fifo, a.copy[1], 1, 0)
		switch err {
		case unix.EINTR:
		case nil:
			var one [1]byte
			_, err = readRetry(a.copy[0], one[:])
			return err
		default:
			return os.NewSyscallError("tee", err)
		}
	}
}
