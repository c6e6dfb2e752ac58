package task

import (
	"os"

	"golang.org/x/sys/unix"
)

// openEnd opens exactly this process for awaitEnd, or returns nil.
func openEnd(pid int, ticks uint64) *os.File {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil
	}
	if !alive(pid, ticks) { // it had ended, and the number may be another's by now
		unix.Close(fd)
		return nil
	}
	return os.NewFile(uintptr(fd), "pidfd")
}

// awaitEnd returns true when the process has ended, and false when the file was closed. The runtime's poller waits.
func awaitEnd(f *os.File) bool {
	c, err := f.SyscallConn()
	if err != nil {
		return false
	}
	return c.Read(func(fd uintptr) bool { return processHandle{int(fd)}.ended(0, 0) }) == nil
}
