//go:build linux || darwin

package task

import (
	"os"
	"slices"
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

// standbyKey is in the environment of a replacement shim that was a stand-in. It was given the descriptors below
// standbyFrom, and has no others.
const (
	standbyKey  = "PERDURE_STANDBY=1"
	standbyFrom = 7
)

// closeInherited closes what a shim inherited beside the descriptors that it is given. A shim outlives whoever started
// it, and would keep a lock or the end of a pipe of theirs for as long as it lives. What this process opened itself has
// the flag FD_CLOEXEC, which nothing inherited can have. Where descriptors cannot be listed, they stay open.
func closeInherited() {
	first := readyFD + 1
	switch env := os.Environ(); {
	case slices.Contains(env, standbyKey):
		first = standbyFrom
	case slices.Contains(env, handleKey):
		first = commandFD + 1
	}
	_ = eachDescriptor(first, func(fd int) {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(fd)
		}
	})
}
