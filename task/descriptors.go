package task

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// eachDescriptor calls do for every open descriptor of this process from first on.
func eachDescriptor(first int, do func(fd int)) error {
	entries, err := os.ReadDir(descriptorDir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd >= first {
			do(fd)
		}
	}
	return nil
}

// closeInherited closes what this process inherited beside its standard streams and readyFD. A shim outlives whoever
// started it, and would keep a lock or the end of a pipe of theirs for as long as it lives. What this process opened
// itself has the flag FD_CLOEXEC, which nothing inherited can have. Where descriptors cannot be listed, they stay open.
func closeInherited() {
	_ = eachDescriptor(readyFD+1, func(fd int) {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	})
}
