package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// Unseen has a terminal show nothing of what is typed, from now until restore is called. What is no terminal stays as
// it is.
func Unseen(f *os.File) (restore func()) {
	fd := int(f.Fd()) //nolint:gosec // a descriptor
	was, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil {
		return func() {}
	}
	now := *was
	now.Lflag &^= unix.ECHO
	if unix.IoctlSetTermios(fd, setModes, &now) != nil {
		return func() {}
	}
	return func() { _ = unix.IoctlSetTermios(fd, setModes, was) }
}
