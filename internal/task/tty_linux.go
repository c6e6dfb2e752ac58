package task

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openTTY makes a terminal of the given size. The master does not block.
func openTTY(rows, cols uint16) (master, slave *os.File, err error) {
	fd, err := openRetry("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open /dev/ptmx: %w", err)
	}
	other := -1
	if err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err == nil {
		var n uint32
		if n, err = unix.IoctlGetUint32(fd, unix.TIOCGPTN); err == nil {
			other, err = openRetry(fmt.Sprintf("/dev/pts/%d", n), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		}
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	}
	if err != nil {
		unix.Close(fd)
		if other >= 0 {
			unix.Close(other)
		}
		return nil, nil, fmt.Errorf("make a terminal: %w", err)
	}
	return os.NewFile(uintptr(fd), "tty master"), os.NewFile(uintptr(other), "tty"), nil
}
