//go:build !linux

package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// fread names the input in a flush.
const fread = 1

// DropTyped forgets what was typed on a terminal and not read yet. It does nothing to other files.
func DropTyped(f *os.File) { _ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, fread) }
