package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// DropTyped forgets what was typed on a terminal and not read yet. It does nothing to other files.
func DropTyped(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
