//go:build unix && !linux

package tools

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openSearch opens a directory to get at what is in it; here it must be readable.
const openSearch = unix.O_RDONLY

// openBeyondLinks is not there: each directory on the way is opened by itself.
func openBeyondLinks(string, int) (int, error) { return -1, errors.ErrUnsupported }

func renameNew(dir *os.File, temp, to string) error { return renameChecked(dir, temp, to) }

// copyAttributes copies nothing here: extended attributes are kept on Linux only.
func copyAttributes(_, _ *os.File) {}
