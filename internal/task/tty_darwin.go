package task

import (
	"bytes"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openTTY makes a terminal of the given size. The master does not block.
func openTTY(rows, cols uint16) (master, slave *os.File, err error) {
	fd, err := openRetry("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open /dev/ptmx: %w", err)
	}
	other := -1
	var name [128]byte
	for _, ask := range []struct {
		request uint
		arg     uintptr
	}{
		{unix.TIOCPTYGRANT, 0},
		{unix.TIOCPTYUNLK, 0},
		{unix.TIOCPTYGNAME, uintptr(unsafe.Pointer(&name[0]))},
	} {
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(ask.request), ask.arg); errno != 0 {
			err = errno
		}
	}
	if err == nil {
		path, _, _ := bytes.Cut(name[:], []byte{0})
		other, err = openRetry(string(path), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
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
