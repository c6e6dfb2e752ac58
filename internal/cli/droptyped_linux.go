package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropTyped forgets what was typed on a terminal and not read yet. It does nothing to other files.
func dropTyped(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
