//go:build !linux

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// fread names the input in a flush.
const fread = 1

// dropTyped forgets what was typed on a terminal and not read yet. It does nothing to other files.
func dropTyped(f *os.File) { _ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, fread) }
